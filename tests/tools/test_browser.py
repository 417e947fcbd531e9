"""The site, the slides and JupyterLab in a real browser: `make test-browser`, with Chromium."""

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import build_site
import build_workshop
import guide

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
SWITCHES = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
]
PHONE = (390, 844)
DESKTOP = (1280, 900)

pytestmark = pytest.mark.browser
every_notebook = pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS])


@pytest.fixture(scope="module")
def browser():
    if not (CHROMIUM and shutil.which("chromedriver")):
        pytest.fail(
            "these tests need Chromium and its driver; on Debian: apt-get install chromium "
            "chromium-driver",
            pytrace=False,
        )
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
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


def serve(folder):
    """Serve a folder on loopback; gives its address."""
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "html"
    assert build_site.main(["--out", str(folder)]) == 0
    server, address = serve(folder)
    yield address
    server.shutdown()


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workshop")
    build_workshop.main(["--out", str(folder / "kit")])
    server, address = serve(folder / "kit" / "slides")
    yield address
    server.shutdown()


def visit(browser, address, size=DESKTOP):
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.set_window_size(*size)
    browser.get(address)


def complaints(browser):
    """What the console holds; a browser asks every server for a favicon."""
    return [
        entry["message"]
        for entry in browser.get_log("browser")
        if entry["level"] == "SEVERE" and "favicon.ico" not in entry["message"]
    ]


def hosts(browser):
    """The hosts that the page asked for something."""
    messages = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    return {urlsplit(url).hostname for url in asked if url.startswith("http")}


@every_notebook
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_page_of_the_site(browser, site, name, size):
    visit(browser, f"{site}/{name}.html", size)
    assert complaints(browser) == []
    assert hosts(browser) == {"127.0.0.1"}
    too_wide, broken, undescribed = browser.execute_script(
        """const pictures = [...document.images];
        return [document.documentElement.scrollWidth - window.innerWidth,
                pictures.filter(p => !p.complete || !p.naturalWidth).length,
                pictures.filter(p => !p.alt).length]"""
    )
    assert too_wide <= 0
    assert (broken, undescribed) == (0, 0)


def test_search_finds_a_notebook(browser, site):
    visit(browser, f"{site}/search.html?q=bandwidth")
    found = "return [...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    links = wait_for(lambda: browser.execute_script(found))
    assert any("01_fuse_a_computation" in link for link in links)
    assert complaints(browser) == []


def test_a_reader_can_choose_dark_pages(browser, site):
    visit(browser, f"{site}/{NOTEBOOKS[0].stem}.html")
    colours = set()
    for _ in range(3):  # automatic, light, dark
        browser.execute_script("document.querySelector('.theme-toggle').click()")
        colours.add(
            browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        )
    assert len(colours) == 2


@every_notebook
def test_slides(browser, slides, name):
    visit(browser, f"{slides}/{name}.html")
    count = wait_for(lambda: browser.execute_script("return window.Reveal?.getTotalSlides()"))
    assert count > 10
    for _ in range(count):
        browser.execute_script("Reveal.next()")
    assert browser.execute_script("return Reveal.isLastSlide()")
    assert browser.execute_script("return document.querySelectorAll('aside.notes').length") > 5
    assert complaints(browser) == []
    assert hosts(browser) == {"127.0.0.1"}


OPEN_NOTES = """
const open = window.open;
window.open = (...given) => window.notes = open.apply(window, given);
Reveal.getPlugin("notes").open();
"""


def test_speaker_view_shows_what_to_say(browser, slides):
    name = NOTEBOOKS[0].stem
    visit(browser, f"{slides}/{name}.html")
    wait_for(lambda: browser.execute_script("return window.Reveal?.getTotalSlides()"))
    browser.execute_script("""const asks = document.querySelector('blockquote').closest('section');
        const {h, v} = Reveal.getIndices(asks); Reveal.slide(h, v)""")
    browser.execute_script(OPEN_NOTES)
    shown = wait_for(
        lambda: browser.execute_script(
            "return window.notes.document.querySelector('.value')?.innerText"
        )
    )
    browser.execute_script("window.notes.close()")
    assert shown.split()[:6] == next(iter(guide.advice()[name].values())).split()[:6]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab on a copy of the notebooks, as `make lab` starts it; gives its address."""
    folder = tmp_path_factory.mktemp("lab")
    for path in NOTEBOOKS:
        shutil.copy(path, folder)
    token = "test"
    command = [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--port=0"),
        *("--LabApp.expose_app_in_browser=True", f"--IdentityProvider.token={token}"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={folder}"),
    ]
    runtime = tmp_path_factory.mktemp("runtime")
    environment = os.environ | {"JUPYTER_RUNTIME_DIR": str(runtime)}
    server = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        state = wait_for(lambda: next(runtime.glob("jpserver-*.json"), None), 60)
        address = json.loads(state.read_text())["url"]
        yield address, token
    finally:
        server.terminate()
        server.wait(30)


RUN_ALL = """
const done = arguments[0], app = window.jupyterapp, widget = app.shell.currentWidget;
(async () => {
  await widget.context.sessionContext.ready;
  const cells = [...widget.content.model.cells].filter(cell => cell.type === "code");
  cells.forEach(cell => cell.clearExecution());
  await app.commands.execute("notebook:run-all-cells");
  return cells.map(cell => ({
    id: cell.id,
    run: !!cell.executionCount || !cell.sharedModel.source.trim(),
    noise: cell.outputs.toJSON()
      .filter(output => output.output_type === "error" || output.name === "stderr")
      .map(output => output.evalue || output.text)
  }));
})().then(done, error => done(String(error)));
"""
SESSION = "return !!window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session"


@every_notebook
def test_every_cell_runs_in_jupyterlab(browser, lab, name):
    address, token = lab
    visit(browser, f"{address}lab/tree/{name}.ipynb?token={token}&reset")
    wait_for(lambda: browser.execute_script(SESSION), 120)
    browser.set_script_timeout(900)
    cells = browser.execute_async_script(RUN_ALL)
    assert isinstance(cells, list), cells
    assert [cell["id"] for cell in cells if not cell["run"]] == []
    assert {cell["id"]: cell["noise"] for cell in cells if cell["noise"]} == {}
    delete(f"{address}api/sessions", token)


def delete(address, token):
    """Stop every kernel, so that one at a time holds memory."""
    header = {"Authorization": f"token {token}"}
    with urllib.request.urlopen(urllib.request.Request(address, headers=header)) as answer:
        for session in json.load(answer):
            urllib.request.urlopen(
                urllib.request.Request(
                    f"{address}/{session['id']}", headers=header, method="DELETE"
                )
            ).close()


def wait_for(condition, seconds=20):
    """The first true value of `condition`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError("this took too long")
