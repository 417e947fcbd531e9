"""What JupyterLab saves holds no version of Python, so that opening a notebook changes no file."""


def drop_version(model, **_):
    """Drop what the kernel added to a notebook that is about to be saved."""
    if model["type"] == "notebook":
        model["content"]["metadata"].get("language_info", {}).pop("version", None)


c = get_config()  # noqa: F821
c.FileContentsManager.pre_save_hook = drop_version
