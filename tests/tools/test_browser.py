"""The site, the slides, a decision and JupyterLab in a real browser: `make test-browser`, with
Chromium."""

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
from urllib.error import URLError
from urllib.parse import urlsplit

import pytest

from tests.test_workshop import make_workshop, project
from tests.xla_helpers.deciding.cases import CASES
from tools.collection import ROOT, paths, read
from tools.site import build as site_builder
from xla_helpers.deciding.markdown import QUANTITY
from xla_helpers.deciding.page import write_page

NOTEBOOKS = paths()
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
    assert site_builder.main(["--out", str(folder)]) == 0
    server, address = serve(folder)
    yield address
    server.shutdown()


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    folder = project(tmp_path_factory.mktemp("workshop") / "project", *NOTEBOOKS)
    assert make_workshop(folder).returncode == 0
    server, address = serve(folder / "build" / "workshop" / "slides")
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


def requests(browser):
    """What the page asked for since it was visited."""
    messages = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    return [urlsplit(url) for url in asked if url.startswith("http")]


def hosts(browser):
    return {request.hostname for request in requests(browser)}


COLUMNS = """
return [...document.querySelectorAll("table")].flatMap(table => {
  const rows = [...table.rows].map(row => [...row.cells]);
  return rows[0].map((_, i) => rows.map(row => ({
    text: row[i].textContent.trim(),
    side: getComputedStyle(row[i]).textAlign.replace("-webkit-", "").replace("start", "left"),
    unit: row[i].querySelector("span")?.getBoundingClientRect().left
  })));
})"""
TOO_WIDE = """
return [...document.querySelectorAll("table")]
  .filter(table => table.parentElement.scrollWidth > table.parentElement.clientWidth)
  .map(table => table.rows[0].innerText)"""
NUMBER = re.compile(r"-?[\d.]+(e[+-]?\d+)?( [nµmkMGT]?[sB])?")


def check_tables(browser, name):
    """Text on the left, numbers on the right, units in line, and no table wider than its place."""
    count = tables_in(read(ROOT / "notebooks" / f"{name}.ipynb"))
    wait_for(lambda: len(browser.find_elements("css selector", "table")) == count, 60)
    columns = browser.execute_script(COLUMNS)
    assert [[cell["text"] for cell in column] for column in columns if is_ragged(column)] == []
    assert browser.execute_script(TOO_WIDE) == []


def tables_in(notebook):
    """How many tables a notebook shows, in its prose and in its outputs."""
    outputs = [
        output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])
    ]
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    prose += [data["text/markdown"] for data in outputs if "text/markdown" in data]
    html = "".join(data.get("text/html", "") for data in outputs)
    return html.count("<table>") + len(re.findall(r"(?m)^\| ?:?--", "\n".join(prose)))


def is_ragged(column):
    """Whether a column stands on the wrong side. Shares and rates may stand on either."""
    texts = [cell["text"] for cell in column[1:] if cell["text"]]
    numeric = texts and all(NUMBER.fullmatch(text) for text in texts)
    units = {round(cell["unit"]) for cell in column if numeric and cell["unit"]}
    sides = {cell["side"] for cell in column}
    if texts and not numeric and all(QUANTITY.fullmatch(text) for text in texts):
        return len(sides) > 1
    return sides != {"right" if numeric else "left"} or len(units) > 1


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


@every_notebook
def test_tables_of_the_site(browser, site, name):
    visit(browser, f"{site}/{name}.html")
    check_tables(browser, name)


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
    visit(browser, f"{slides}/{name}.slides.html")
    count = wait_for(lambda: browser.execute_script("return window.Reveal?.getTotalSlides()"))
    assert count > 10
    fragments = browser.execute_script("return document.querySelectorAll('.fragment').length")
    for _ in range(count + fragments):
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
    visit(browser, f"{slides}/{name}.slides.html")
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
    said = next(cell.metadata.say for cell in read(NOTEBOOKS[0]).cells if "say" in cell.metadata)
    assert shown.split()[:6] == said.split()[:6]


LOOKS = {  # name to the window, and to what the browser pretends to have
    "desktop": (DESKTOP, "screen", "light"),
    "dark": (DESKTOP, "screen", "dark"),
    "phone": (PHONE, "screen", "light"),
    "paper": ((720, 1000), "print", "light"),  # what the margins of A4 leave
}
OUTSIDE = """
const scrolls = arguments[0], wide = document.documentElement.clientWidth;
return [...document.querySelectorAll("body *")]
  .filter(part => !(scrolls && part.closest("table, pre")))
  .filter(part => part.getBoundingClientRect().right > wide + 1)
  .map(part => part.tagName + " " + part.textContent.slice(0, 60))"""


@pytest.fixture(scope="module")
def decisions(tmp_path_factory):
    """A page for each kind of decision; gives their address."""
    folder = tmp_path_factory.mktemp("decisions")
    for kind, made in CASES.items():
        (folder / kind).mkdir()
        write_page(*made(), folder / kind)
    server, address = serve(folder)
    yield address
    server.shutdown()


@pytest.fixture
def emulate(browser):
    """Choose between screen and paper, light and dark; put back afterwards."""

    def choose(media, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        given = {"media": media, "features": features}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", given)

    yield choose
    choose("", "light")


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("kind", CASES)
def test_a_decision(browser, decisions, emulate, kind, look):
    size, media, scheme = LOOKS[look]
    emulate(media, scheme)
    visit(browser, f"{decisions}/{kind}/decision.html", size)
    assert complaints(browser) == []
    assert {request.path for request in requests(browser)} == {f"/{kind}/decision.html"}
    assert browser.execute_script(OUTSIDE, media == "screen") == []
    broken = "return [...document.images].filter(p => !p.naturalWidth || !p.alt).length"
    assert browser.execute_script(broken) == 0


def test_a_decision_is_dark_where_the_reader_is(browser, decisions, emulate):
    shades = []
    for scheme in ("light", "dark"):
        emulate("screen", scheme)
        visit(browser, f"{decisions}/usual/decision.html")
        shades.append(browser.execute_script("return getComputedStyle(document.body).color"))
    assert shades[0] != shades[1]


TOKEN = "test"
LAB = {
    "LabApp": {"expose_app_in_browser": True},
    "ServerApp": {"ip": "127.0.0.1", "port": 0, "open_browser": False},
    "IdentityProvider": {"token": TOKEN},
}
SESSION = "return !!window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session"
QUESTIONS = """return [...document.querySelectorAll(".jp-Dialog, .Toastify__toast")]
  .map(question => question.innerText)"""
OFFERS = "return jupyterapp.commands.hasCommand('extensionmanager:show-panel')"
# For these the server asks other hosts.
FETCHES = {f"/lab/api/{part}" for part in ("news", "update", "extensions")}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """`make lab` for someone new to Jupyter, on a copy of the notebooks; gives its address."""
    folder, home = tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("home")
    for path in NOTEBOOKS:
        shutil.copy(path, folder)
    (home / "jupyter_lab_config.json").write_text(json.dumps(LAB))
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
        wait_for(lambda: is_up(address))
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


def ask(address, method="GET", **data):
    """What JupyterLab's server answers."""
    request = urllib.request.Request(
        address,
        method=method,
        headers={"Authorization": f"token {TOKEN}"},
        data=json.dumps(data).encode() if data else None,
    )
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or "null")


def is_up(address):
    try:
        return ask(f"{address}api")
    except URLError:
        return False


def choose(lab, plugin, **settings):
    """Set what a reader sets in JupyterLab's settings."""
    ask(f"{lab}lab/api/settings/@jupyterlab/{plugin}", "PUT", raw=json.dumps(settings))


def open_in_lab(browser, lab, name):
    for session in ask(f"{lab}api/sessions"):  # so that one kernel at a time holds memory
        ask(f"{lab}api/sessions/{session['id']}", "DELETE")
    visit(browser, f"{lab}lab/tree/{name}.ipynb?token={TOKEN}&reset")
    wait_for(lambda: browser.execute_script(SESSION), 120)


@pytest.mark.parametrize("news", ["none", "true"], ids=["a new reader", "a reader of its news"])
def test_jupyterlab_asks_nothing_and_fetches_nothing(browser, lab, news):
    choose(lab, "apputils-extension:notification", fetchNews=news)
    open_in_lab(browser, lab, NOTEBOOKS[0].stem)
    assert browser.execute_script(QUESTIONS) == []
    assert not browser.execute_script(OFFERS)
    asked = requests(browser)
    assert {request.hostname for request in asked} == {"127.0.0.1"}
    assert {request.path for request in asked}.isdisjoint(FETCHES)


@every_notebook
def test_tables_in_jupyterlab(browser, lab, name):
    choose(lab, "notebook-extension:tracker", windowingMode="none")  # cells out of sight as well
    open_in_lab(browser, lab, name)
    check_tables(browser, name)


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


@every_notebook
def test_every_cell_runs_in_jupyterlab(browser, lab, name):
    open_in_lab(browser, lab, name)
    browser.set_script_timeout(900)
    cells = browser.execute_async_script(RUN_ALL)
    assert isinstance(cells, list), cells
    assert [cell["id"] for cell in cells if not cell["run"]] == []
    assert {cell["id"]: cell["noise"] for cell in cells if cell["noise"]} == {}


def wait_for(condition, seconds=20):
    """The first true value of `condition`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError("this took too long")
