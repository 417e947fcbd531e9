"""The site, slides, report and JupyterLab in a real browser, with Chromium."""

import functools
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in ROOT.glob("notebooks/*.ipynb"))
SWITCHES = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
]
LOOKS = {  # name to the window, and to what the browser pretends to have
    "desktop": ((1280, 900), "screen", "light"),
    "dark": ((1280, 900), "screen", "dark"),
    "phone": ((390, 844), "screen", "light"),
    "paper": ((720, 1000), "print", "light"),  # what the margins of A4 leave
}

pytestmark = pytest.mark.browser
every_notebook = pytest.mark.parametrize("name", NAMES)
every_look = pytest.mark.parametrize("look", LOOKS)


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not (chromium and shutil.which("chromedriver")):
        needed = "Chromium and its driver; on Debian: apt-get install chromium chromium-driver"
        pytest.fail(f"these tests need {needed}", pytrace=False)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """What the commands make of a copy of this project, served on loopback."""
    folder = tmp_path_factory.mktemp("project") / "copy"
    hidden = shutil.ignore_patterns(".git", ".nox", "build", "__pycache__", ".*_cache", ".venv")
    shutil.copytree(ROOT, folder, ignore=hidden)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    make = ["make", "--old-file=set-up", "site", "workshop", "report"]
    subprocess.run(make, cwd=folder, check=True, env=os.environ | {"XLA_RESULTS": "results"})
    handler = functools.partial(Quiet, directory=folder / "build")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def visit(browser, page, look="desktop"):
    size, media, scheme = LOOKS[look]
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    given = {"media": media, "features": features}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", given)
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.set_window_size(*size)
    browser.get(page)


def requests(browser):
    """What the page asked for since it was visited."""
    messages = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    return [urlsplit(url) for url in asked if url.startswith("http")]


OUTSIDE = """
const wide = document.documentElement.clientWidth;
return [...document.querySelectorAll("article *, #notebook *, body > :is(p, h1, h2, table, pre)")]
  .filter(part => !part.closest("table, pre, .output_subarea, .cell_output, .highlight"))
  .filter(part => part.getBoundingClientRect().width && part.offsetParent)
  .filter(part => part.getBoundingClientRect().right > wide + 1)
  .map(part => part.tagName + " " + part.textContent.slice(0, 60))"""


def check_page(browser):
    """No error, no other host, every picture there and described, no text cut off."""
    errors = [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]
    assert [error for error in errors if "favicon.ico" not in error] == []
    assert {request.hostname for request in requests(browser)} == {"127.0.0.1"}
    lacking = "return [...document.images].filter(p => !p.naturalWidth || !p.alt).length"
    assert browser.execute_script(lacking) == 0
    assert browser.execute_script(OUTSIDE) == []


@every_look
@every_notebook
def test_a_page_of_the_site(browser, address, name, look):
    visit(browser, f"{address}/site/notebooks/{name}.html", look)
    check_page(browser)


@every_look
@pytest.mark.parametrize("page", ["site/index.html", "report.html"])
def test_a_page_of_its_own(browser, address, page, look):
    visit(browser, f"{address}/{page}", look)
    check_page(browser)


SHADE = "return getComputedStyle(document.querySelector('p')).color + " + (
    "getComputedStyle(document.documentElement).filter"
)


@pytest.mark.parametrize("page", ["site/index.html", "report.html"])
def test_a_page_is_dark_where_the_reader_is(browser, address, page):
    shades = set()
    for look in ("desktop", "dark"):
        visit(browser, f"{address}/{page}", look)
        shades.add(browser.execute_script(SHADE))
    assert len(shades) == 2


def test_search_finds_a_notebook(browser, address):
    visit(browser, f"{address}/site/search.html?q=bandwidth")
    found = "return [...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    links = wait_for(lambda: browser.execute_script(found))
    assert any("01_fuse_a_computation" in link for link in links)
    check_page(browser)


@every_notebook
def test_slides(browser, address, name):
    visit(browser, f"{address}/workshop/slides/{name}.slides.html")
    count = wait_for(lambda: browser.execute_script("return window.Reveal?.getTotalSlides()"))
    assert count > 10
    fragments = browser.execute_script("return document.querySelectorAll('.fragment').length")
    for _ in range(count + fragments):
        browser.execute_script("Reveal.next()")
    assert browser.execute_script("return Reveal.isLastSlide()")
    assert browser.execute_script("return document.querySelectorAll('aside.notes').length") > 5
    check_page(browser)


SETTINGS = {
    "LabApp": {"expose_app_in_browser": True},
    "ServerApp": {"ip": "127.0.0.1", "port": 0, "open_browser": False},
    "IdentityProvider": {"token": "test"},
}
SESSION = "return !!window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session"
QUESTIONS = """return [...document.querySelectorAll(".jp-Dialog, .Toastify__toast")]
  .map(question => question.innerText)"""
FETCHES = {f"/lab/api/{part}" for part in ("news", "update", "extensions")}  # from other hosts
RUN_ALL = """
const done = arguments[0], app = window.jupyterapp, widget = app.shell.currentWidget;
(async () => {
  await widget.context.sessionContext.ready;
  const cells = [...widget.content.model.cells].filter(cell => cell.type === "code");
  cells.forEach(cell => cell.clearExecution());
  await app.commands.execute("notebook:run-all-cells");
  return cells.flatMap(cell => cell.outputs.toJSON()
    .filter(output => output.output_type === "error" || output.name === "stderr")
    .map(output => cell.id + ": " + (output.evalue || output.text)))
    .concat(cells.filter(cell => !cell.executionCount && cell.sharedModel.source.trim())
      .map(cell => cell.id + " did not run"));
})().then(done, error => done([String(error)]));
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """`make lab` for someone new to Jupyter, on a copy of the notebooks; gives its address."""
    folder, home = tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("home")
    for name in NAMES:
        shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", folder)
    (home / "jupyter_lab_config.json").write_text(json.dumps(SETTINGS))
    places = {f"JUPYTER_{kind}_DIR": str(home) for kind in ("CONFIG", "DATA", "RUNTIME")}
    server = subprocess.Popen(
        ["make", "--old-file=set-up", "lab", f"FOLDER={folder}"],
        cwd=ROOT,
        env=os.environ | places | {"XLA_RESULTS": str(home / "results")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        state = wait_for(lambda: next(home.glob("jpserver-*.json"), None), 60)
        address = json.loads(state.read_text())["url"]
        wait_for(lambda: ask(f"{address}api"), 60)
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


def ask(address, method="GET"):
    """What JupyterLab's server answers; nothing while it is not up."""
    headers = {"Authorization": "token test"}
    try:
        request = urllib.request.Request(address, method=method, headers=headers)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")
    except URLError:
        return None


@every_notebook
def test_jupyterlab_asks_nothing_fetches_nothing_and_runs_every_cell(browser, lab, name):
    for session in ask(f"{lab}api/sessions"):  # so that one kernel at a time holds memory
        ask(f"{lab}api/sessions/{session['id']}", "DELETE")
    visit(browser, f"{lab}lab/tree/{name}.ipynb?token=test&reset")
    wait_for(lambda: browser.execute_script(SESSION), 120)
    assert browser.execute_script(QUESTIONS) == []
    asked = requests(browser)
    assert {request.hostname for request in asked} == {"127.0.0.1"}
    assert {re.sub("/+$", "", request.path) for request in asked}.isdisjoint(FETCHES)
    browser.set_script_timeout(900)
    assert browser.execute_async_script(RUN_ALL) == []


def wait_for(condition, seconds=20):
    """The first true value of `condition`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError("this took too long")
