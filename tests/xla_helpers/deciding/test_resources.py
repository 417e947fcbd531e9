"""Programs, memory, layers and the limit, in words."""

from dataclasses import replace

from tests.xla_helpers.deciding.cases import CASES, first_calls, padded
from tests.xla_helpers.deciding.examples import findings
from xla_helpers.deciding.findings import End, FirstCall, FirstCalls, LayerTime, Work
from xla_helpers.deciding.markdown import Markdown
from xla_helpers.deciding.resources import shapes as shapes_section
from xla_helpers.deciding.resources import where as where_section
from xla_helpers.deciding.wording import STARTED

CALL = FirstCall(0, 0.1, traces=1)


def shapes(known):
    return shapes_section(known, Markdown("![a](memory.png)"))


def where(known):
    return where_section(known, Markdown("![a](layers.png)"), Markdown("![a](limit.png)"))


def test_programs_are_counted_exact_and_padded():
    text = shapes(padded()[0])
    assert "- XLA compiled 5 programs for 5 shapes." in text
    assert "- XLA, padded compiled 2 programs for 2 shapes." in text
    assert (
        "would bring one more, or more than one, unless padding makes one of these of it;" in text
    )


def test_shapes_that_failed_are_not_called_compiled():
    calls = (replace(CALL, error="ValueError: no"), FirstCall(1, 0.1, 1, 1))
    text = shapes(findings(first=(FirstCalls("XLA", 0, calls),)))
    assert "- XLA compiled 1 program for 2 shapes, of which 1 failed." in text


def test_a_compilation_that_was_not_seen_is_not_zero_programs():
    text = shapes(findings(first=(*first_calls(1, ("eager",)), FirstCalls("XLA", 0, (CALL,)))))
    assert "XLA: no compilation was seen, for 1 shape." in text
    assert "0 programs" not in text and "eager" not in text


def test_what_padding_changed_and_what_it_wastes():
    text = shapes(padded()[0])
    assert "| int32[8, 7] | differs by 0.2, allowed 0.0001 | 0.2 | 0.5 |" in text
    assert "| int32[8, 8] | 25 % |" in text and "| int32[8, 16] | less than 0.1 % |" in text


def test_without_padding_there_is_no_word_about_it():
    assert "padding" not in shapes(findings())


def test_memory_of_a_program_and_of_the_process():
    text = shapes(findings(first=first_calls(2)))
    assert "| XLA | float32[16, 10] | 1 kB | 320 B | 640 B |" in text
    assert "XLA, measured: the process held 380 MB before, and 403 MB after 2 programs." in text
    assert "Too few to extrapolate: at least 4 programs, made by two calls or more" in text
    assert "Extrapolated" not in text


def test_memory_that_shrank_is_not_extrapolated():
    (first,) = first_calls(5, ("XLA",))
    calls = tuple(replace(call, memory=450_000_000 - call.memory // 2) for call in first.calls)
    text = shapes(findings(first=(replace(first, calls=calls),)))
    assert "It did not grow with the programs, so nothing is extrapolated." in text
    assert "Extrapolated" not in text


def test_what_is_extrapolated_is_called_so():
    text = shapes(CASES["many_shapes"]()[0])
    assert "Extrapolated, not measured: 3 MB for each program" in text
    assert "847 MB after 150 programs" in text


def test_programs_that_are_not_known_are_not_zero():
    text = shapes(CASES["died"]()[0])
    assert 'Programs are not known. The part "first calls, XLA" was stopped' in text
    assert "0 programs" not in text


def test_layers_stand_beside_each_other_with_their_shares():
    text = where(findings())
    assert "| dense | Dense | 60 µs | 60 % | 30 µs | 60 % |" in text
    assert "| not in a layer |  | 40 µs | 40 % | 20 µs | 40 % |" in text
    assert "Shares are of all the time that was found" in text
    assert text.startswith("Of a call with float32[16, 10]:")


def test_with_a_gpu_times_by_layer_are_said_to_be_the_processors():
    text = where(findings(machine={"accelerators": "NVIDIA H100"}))
    said = text.partition("in layers and outside of them.\n\n")[2]
    assert said.startswith("Times by layer are those of the processor: with a GPU")
    assert text.replace(f"{STARTED}\n\n", "") == where(findings())
    assert STARTED not in where(findings(machine={"accelerators": "NVIDIA H100"}, layers=()))


def test_without_work_the_shape_of_the_layers_is_not_named():
    assert where(findings(works=())).startswith("Of a call with one shape, the most frequent one")


def test_why_no_layer_has_a_time_is_not_guessed():
    text = where(findings(layers=(), ends=(End("work", "finished"),)))
    assert 'either there is no layer of Keras, or "What ran" says why.' in text


def test_one_other_is_one():
    layers = tuple(LayerTime("graph", f"{i}", "Dense", 1e-6) for i in range(16))
    assert "| 1 other |" in where(findings(layers=layers))


def test_what_was_not_found_in_a_mode_is_not_zero():
    layers = (LayerTime("graph", "a", "Dense", 1e-5), LayerTime("XLA", "b", "Dense", 1e-5))
    text = where(findings(layers=layers))
    assert "| a | Dense | 10 µs | 100 % | not known | not known |" in text


def test_many_layers_are_summed_and_long_names_lose_their_beginning():
    layers = tuple(LayerTime("graph", f"{'x' * 60}/{i}", "Dense", 1e-6) for i in range(20))
    text = where(findings(layers=layers))
    assert "| 5 others |  | 5 µs | 25 % |" in text and "…xxx" in text and "x/14 |" in text


def test_work_is_held_against_the_limit():
    text = where(findings())
    assert "| XLA | 50 µs | 2 | 20 kB | 400 MB/s | 8,000 | 160 MFLOP/s | 4 % |" in text
    assert "50 GFLOP/s in a product of matrices and 10 GB/s in a copy" in text


def test_what_is_not_known_of_work_is_called_so():
    text = where(findings(works=(Work("graph", 0, 1e-4, None),)))
    assert "| graph | 100 µs | not known | not known | not known | not known |" in text


def test_more_than_the_limit_is_explained_and_no_share():
    text = where(findings(works=(Work("XLA", 0, 1e-6, 2, 40_000, None),)))
    assert "| above it |" in text and "found bytes in a cache" in text
    assert "found bytes in a cache" not in where(findings())


def test_operations_in_a_loop_are_at_least_so_many():
    text = where(findings(works=(replace(findings().works[1], least=True),)))
    assert "| at least 8,000 | at least 160 MFLOP/s | at least 4 % |" in text


def test_without_peaks_there_is_no_limit():
    text = where(findings(peaks=None))
    assert "What this machine reaches was not measured." in text and "| not known |" in text


def test_without_data_it_says_why():
    text = where(CASES["died"]()[0])
    assert text.count('The part "work" was left out: there was no time for it.') == 2
