"""The switch of TensorFlow that all threads share."""

import threading

from xla_helpers.modes import functions_run_eagerly


def test_two_threads_take_turns_with_the_switch(tf):
    """Each used to put back what the other had set."""
    first_is_in, second_is_there, seen = threading.Event(), threading.Event(), []

    def first():
        with functions_run_eagerly(True):
            first_is_in.set()
            second_is_there.wait(60)
            seen.append(tf.config.functions_run_eagerly())

    def second():
        first_is_in.wait(60)
        second_is_there.set()
        with functions_run_eagerly(False):
            seen.append(tf.config.functions_run_eagerly())

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True, False] and not tf.config.functions_run_eagerly()
