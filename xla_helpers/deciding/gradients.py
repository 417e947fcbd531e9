"""The gradients of a training step of Keras, which the step itself does not return."""

from inspect import signature


def gradients(model, data) -> dict:
    """The gradients of a compiled Keras model's loss over a batch, by the path of the variable."""
    import tensorflow as tf

    x, y, weight = _unpacked(data)
    training = {"training": True} if "training" in signature(model.call).parameters else {}
    with tf.GradientTape() as tape:
        outputs = model(x, **training)
        loss = model.compute_loss(x, y, outputs, weight)
    variables = model.trainable_variables
    found = zip(variables, tape.gradient(loss, variables), strict=True)
    return {
        getattr(variable, "path", variable.name): tf.convert_to_tensor(gradient)
        for variable, gradient in found
        if gradient is not None
    }


def _unpacked(data):
    """Inputs, targets and weights of a batch, as Keras takes them; None for what is not there."""
    parts = data if isinstance(data, tuple) else (data,)
    return (*parts, None, None)[:3]


def has_gradients(model) -> bool:
    """Whether the step of a model, or of None, is that of Keras, which follows these gradients."""
    if model is None:
        return False
    own = type(model).train_step.__module__
    return own.partition(".")[0] in ("keras", "tf_keras")
