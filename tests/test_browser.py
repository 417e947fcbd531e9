"""The site, slides, report and JupyterLab in a real browser, with Chromium."""

import base64
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import axe_core_python
import nbformat
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.contrast import ENOUGH, letters, luminance
from tools.learners import Fold

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in ROOT.glob("notebooks/*.ipynb"))
PAGES = ["site/index.html", "report.html"]
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


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.fail("no Chromium and driver (apt-get install chromium chromium-driver)", False)
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """What the commands make of a copy of this project, served on loopback."""
    folder = tmp_path_factory.mktemp("project") / "copy"
    hidden = shutil.ignore_patterns(".git", ".nox", "build", "__pycache__", ".*_cache", ".venv")
    shutil.copytree(ROOT, folder, ignore=hidden)
    (folder / ".venv").symlink_to(sys.prefix)
    make = ["make", "--old-file=set-up", "site", "workshop", "report"]
    subprocess.run(make, cwd=folder, check=True, env=os.environ | {"XLA_RESULTS": "results"})
    handler = functools.partial(SimpleHTTPRequestHandler, directory=folder / "build")
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def wait_for(condition, seconds=20):
    """The first true value of `condition`."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "this took too long"
        time.sleep(0.2)
    return value


def visit(browser, page, look="desktop"):
    size, media, scheme = LOOKS[look]
    given = {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", given)
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.set_window_size(*size)
    browser.get(page)


def requests(browser):
    """What the page asked for since it was visited."""
    messages = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    urls = [urlsplit(params["request"]["url"]) for params in sent]
    return [url for url in urls if url.scheme.startswith("http")]


OUTSIDE = """
const wide = document.documentElement.clientWidth;
return [...document.querySelectorAll("article *, #notebook *, body > :is(p, h1, h2, table, pre)")]
  .filter(part => !part.closest("table, pre, .output_subarea, .cell_output, .highlight"))
  .filter(part => part.getBoundingClientRect().width && part.offsetParent)
  .filter(part => part.getBoundingClientRect().right > wide + 1)
  .map(part => part.tagName + " " + part.textContent.slice(0, 60))"""

# Pictures that are not there, or not described; a card's title stands beside its picture.
LACKING = """
return [...document.images].filter(p => !p.naturalWidth || !(p.alt || p.closest(".card"))).length"""
OPEN = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
CUT = """
const box = cell => { const all = document.createRange(); all.selectNodeContents(cell);
  return all.getBoundingClientRect(); };
return [...document.querySelectorAll("td + td, th + th, .stream pre")].filter(part =>
  part.tagName == "PRE" ? part.scrollWidth > part.clientWidth + 1 : part.textContent.trim() &&
  box(part).left < box(part.previousElementSibling).right + 8).map(part => part.textContent)"""


def check_page(browser):
    """No error, no other host, every picture there and described, no text cut off."""
    errors = [x["message"] for x in browser.get_log("browser") if x["level"] == "SEVERE"]
    assert [error for error in errors if "favicon.ico" not in error] == []
    assert {request.hostname for request in requests(browser)} == {"127.0.0.1"}
    browser.execute_script("[...document.images].forEach(one => { one.loading = 'eager'; })")
    wait_for(lambda: browser.execute_script("return [...document.images].every(p => p.complete)"))
    assert browser.execute_script(LACKING) == 0
    assert browser.execute_script(OUTSIDE) == []


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("page", [*PAGES, *(f"site/notebooks/{name}.html" for name in NAMES)])
def test_a_page_is_complete_in_every_look(browser, address, page, look):
    visit(browser, f"{address}/{page}", look)
    browser.execute_script(OPEN)
    check_page(browser)
    assert browser.execute_script(CUT) == []


def test_the_sheet_prints_on_one_page_of_a4(browser, address):
    for look in LOOKS:
        visit(browser, f"{address}/site/docs/sheet.html", look)
        check_page(browser)
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    pages = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", base64.b64decode(printed["data"]))
    assert [tuple(round(float(side)) for side in page) for page in pages] == [(595, 842)]


CHARTS = "img[src*='races-'], img[src^='data:image/svg']"
BOX = """
const [image, tell] = arguments, box = image.getBoundingClientRect();
const place = {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height};
image.decode().then(() => tell({...place, scale: 1}));"""
LEAST = """
const [chart, tell] = arguments;
fetch(chart.currentSrc).then(file => file.text()).then(text => {
  const wide = Number(text.match(/viewBox="0 0 ([\\d.]+)/)[1]);
  const sizes = [...text.matchAll(/font-size: ([\\d.]+)px/g)].map(found => Number(found[1]));
  tell(Math.min(...sizes) * chart.clientWidth / wide); });"""


def charts(browser):
    """The charts of races that are in sight."""
    found = browser.find_elements(By.CSS_SELECTOR, CHARTS)
    return [chart for chart in found if chart.is_displayed()]


def photo(browser, image):
    """An image as the page shows it, also where it is larger than the window, as PNG."""
    wanted = {"clip": browser.execute_async_script(BOX, image), "captureBeyondViewport": True}
    return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", wanted)["data"])


@pytest.mark.parametrize("look", ["desktop", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_charts_can_be_read_in_the_light_and_in_the_dark(browser, address, page, look):
    visit(browser, f"{address}/{page}", look)
    assert charts(browser)
    for chart in charts(browser):
        ground, lines = letters(photo(browser, chart))
        assert (luminance(ground) < 0.1) == (look == "dark")
        assert len(lines) > 14 and min(lines) >= ENOUGH


@pytest.mark.parametrize("page", PAGES)
def test_letters_of_charts_are_large_enough_on_a_phone(browser, address, page):
    visit(browser, f"{address}/{page}", "phone")
    assert charts(browser)
    for chart in charts(browser):
        assert browser.execute_async_script(LEAST, chart) >= 10


def test_search_finds_a_notebook(browser, address):
    visit(browser, f"{address}/site/search.html?q=bandwidth")
    found = "return [...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    assert "01_fuse_a_computation" in " ".join(wait_for(lambda: browser.execute_script(found)))


# The text of a slide that has no title, is cut off, has to be scrolled, or whose type is too small.
TOO_HIGH = """
const slide = Reveal.getCurrentSlide(), size = getComputedStyle(slide.firstElementChild).zoom;
const scrolls = [slide, ...slide.querySelectorAll("*")].some(part =>
  (part.scrollHeight > part.clientHeight + 1 || part.scrollWidth > part.clientWidth + 1)
  && getComputedStyle(part).overflowY == "auto");
const least = slide.querySelector(".jp-InputArea pre")?.textContent.trim() ? 1 : 0.75;  // of 24 px
return scrolls || slide.scrollHeight > 720 || size < least || !slide.querySelector("h1, h2, h3")
  ? slide.innerText : "";"""


@pytest.mark.parametrize("name", NAMES)
def test_slides_fit_the_screen_and_can_be_walked_to_the_end(browser, address, name):
    visit(browser, f"{address}/workshop/slides/{name}.slides.html")
    count = wait_for(lambda: browser.execute_script("return window.Reveal?.getTotalSlides()"))
    fragments = browser.execute_script("return document.querySelectorAll('.fragment').length")
    too_high = set()
    for _ in range(count + fragments):
        too_high.add(browser.execute_script(TOO_HIGH))
        browser.execute_script("Reveal.next()")
    assert too_high <= {""}
    assert 5 < count <= 20 and browser.execute_script("return Reveal.isLastSlide()")
    check_page(browser)


# What one can touch.

AXE = Path(axe_core_python.__file__).with_name("axe.min.js")
WORST = """
axe.run(document.querySelector("article")).then(found => arguments[0](found.violations
  .filter(one => ["critical", "serious"].includes(one.impact))
  .map(one => `${one.id}: ${one.nodes[0].html}`)));"""
OPENED = "return [...document.querySelectorAll('.came-out')].filter(fold => fold.open).length"
TOUCHED = ["docs/dial", "docs/passes", "notebooks/01_fuse_a_computation", "index"]


def text_of(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector).text


@pytest.mark.parametrize("look", ["desktop", "dark", "phone"])
@pytest.mark.parametrize("page", TOUCHED)
def test_what_one_can_touch_is_for_everyone(browser, address, page, look):
    visit(browser, f"{address}/site/{page}.html", look)
    check_page(browser)
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    assert browser.execute_async_script(WORST) == []


IN_SIGHT = """
return [...document.querySelectorAll(arguments[0])].filter(part => {
  const box = part.getBoundingClientRect();
  return box.height && box.top >= 0 && box.bottom <= innerHeight; }).map(part => part.href)"""


# Where a click on the picture of the last card leads.
AT_A_PICTURE = """
const picture = [...document.querySelectorAll(".card .small")].at(-1);
picture.scrollIntoView({ behavior: "instant", block: "center" });
const box = picture.getBoundingClientRect();
return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).href;"""


def test_the_first_screen_leads_to_what_one_can_touch(browser, address):
    visit(browser, f"{address}/site/index.html")
    new, bet, dial, lens = browser.execute_script(IN_SIGHT, "article .try a")
    assert new.endswith("/01_fuse_a_computation.html")
    assert dial.endswith("/docs/dial.html") and lens.endswith("/docs/passes.html")
    visit(browser, bet)
    first = browser.find_element(By.CSS_SELECTOR, "form.bet")
    section = browser.find_element(By.ID, urlsplit(bet).fragment)
    assert first in section.find_elements(By.CSS_SELECTOR, "form.bet")
    visit(browser, f"{address}/site/index.html")
    assert browser.execute_script(AT_A_PICTURE).endswith("/18_serve_compiled_models.html")


SAME_NAME = """
axe.run(document, {runOnly: ["landmark-unique"]}).then(found =>
  arguments[0](found.violations.flatMap(one => one.nodes.map(node => node.html))));"""
FOCUSABLE = """
const parts = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, "
  + "[tabindex='0']")].filter(part => part.checkVisibility({visibilityProperty: true}));
return parts.flatMap(part => { part.focus(); return document.activeElement === part
  ? [[part.outerHTML.slice(0, 80), getComputedStyle(part).outlineStyle]] : []; });"""


@pytest.mark.parametrize("look", ["desktop", "phone"])
@pytest.mark.parametrize("page", ["search", "docs/messages", *TOUCHED])
def test_landmarks_have_names_and_what_has_the_focus_shows_it(browser, address, page, look):
    visit(browser, f"{address}/site/{page}.html", look)
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    assert browser.execute_async_script(SAME_NAME) == []
    focused = browser.execute_script(FOCUSABLE)
    assert len(focused) > 30
    assert [part for part, outline in focused if outline == "none"] == []


@pytest.mark.parametrize("look", ["desktop", "phone"])
def test_the_dial_turns_by_mouse_and_keyboard(browser, address, look):
    visit(browser, f"{address}/site/docs/dial.html", look)
    race = Select(browser.find_element(By.NAME, "race"))
    assert len(race.options) > 15 and len(browser.find_elements(By.CSS_SELECTOR, ".process")) == 6
    calls = browser.find_element(By.NAME, "calls")
    calls.send_keys(Keys.HOME)
    assert text_of(browser, ".head") == "Keep the graph."
    assert text_of(browser, ".sums").startswith("One call takes")
    calls.send_keys(Keys.END)
    assert text_of(browser, ".head") == "XLA pays." and "10,000,000" in text_of(browser, ".sums")
    race.select_by_visible_text("One line, 1024 x 1024 numbers")  # its processes disagree
    assert text_of(browser, ".head") == "No difference is seen."
    race.select_by_visible_text("EfficientNetV2-S, one image")
    assert "No number of calls repays it" in text_of(browser, ".sums")
    browser.find_element(By.NAME, "graph").send_keys(Keys.END)  # numbers of one's own
    assert race.first_selected_option.text == "my own numbers"
    assert text_of(browser, ".head") == "XLA pays."


def test_the_lens_goes_on_and_back(browser, address):
    visit(browser, f"{address}/site/docs/passes.html")
    browser.find_element(By.CSS_SELECTOR, ".on").click()
    assert text_of(browser, ".name").startswith("1 of ") and text_of(browser, ".says")
    assert browser.find_elements(By.CSS_SELECTOR, "#lens ins, #lens del")
    assert text_of(browser, ".says").endswith("read and write 37.7 MB.")
    Select(browser.find_element(By.NAME, "device")).select_by_visible_text("H100")
    assert text_of(browser, ".name") == "before all passes"
    browser.find_element(By.NAME, "step").send_keys(Keys.END)
    for button in browser.find_elements(By.CSS_SELECTOR, "#lens pre button"):
        browser.execute_script("arguments[0].click()", button)
    assert text_of(browser, "#lens pre").count("kind=kInput") == 2  # two kernels
    assert not browser.find_element(By.CSS_SELECTOR, ".on").is_enabled()


RANKED = """
const find = finder(rowsOf(document));
return arguments[0].map(text => find(text).map(one => one.row.title)[0] || "");"""


def test_a_pasted_message_finds_its_row(browser, address):
    """Nine of ten messages, each modelled on a public report."""
    pasted = tomllib.loads((ROOT / "tests/pasted.toml").read_text(encoding="utf-8"))["message"]
    pasted = [one for one in pasted if one["row"]]
    visit(browser, f"{address}/site/docs/messages.html")
    found = browser.execute_script(RANKED, [one["text"] for one in pasted])
    titles = [one["row"].replace("`", "") for one in pasted]
    missed = [pair for pair in zip(titles, found, strict=True) if pair[0] != pair[1]]
    assert len(pasted) >= 40 and len(missed) <= len(pasted) / 10, missed


@pytest.mark.parametrize(
    "page", ["site/docs/messages.html", "site/README.html", "site/search.html"]
)
def test_the_box_for_a_message_leads_to_its_row(browser, address, page):
    visit(browser, f"{address}/{page}")
    pasted = "InvalidArgumentError: Input 1 to node Tile must be a compile-time constant."
    paste = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'));"
    browser.execute_script(paste, browser.find_element(By.ID, "pasted"), pasted)
    links = wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, ".pasted li a"))
    assert links[0].text == "must be a compile-time constant"
    browser.execute_script("arguments[0].click()", links[0])
    assert browser.current_url.endswith("docs/messages.html#must-be-a-compile-time-constant")
    check_page(browser)


def test_a_bet_is_judged_once_kept_and_opens_its_answer(browser, address):
    page = f"{address}/site/notebooks/01_fuse_a_computation.html"
    visit(browser, page)
    browser.execute_script("localStorage.clear()")
    visit(browser, page)
    one, other = browser.find_elements(By.CSS_SELECTOR, "form.bet")[:2]  # of one guess
    rights = [bet.get_attribute("data-right") for bet in (one, other)]
    for bet, given, says in (
        (one, "many", "A number"),
        (one, "999", f"Here: {rights[0]}."),
        (one, f"{rights[0]} kernels", "Right."),
        (other, f"{rights[1]}.0", "Right."),
    ):
        assert browser.execute_script(OPENED) == 0
        field = bet.find_element(By.TAG_NAME, "input")
        field.clear()
        field.send_keys(given, Keys.ENTER)
        assert says in bet.find_element(By.TAG_NAME, "output").text
    assert browser.execute_script(OPENED) == 1  # the fold of this guess, and no other
    visit(browser, page)
    one, other = browser.find_elements(By.CSS_SELECTOR, "form.bet")[:2]
    assert one.find_element(By.TAG_NAME, "input").get_attribute("value") == "999"  # the first
    assert [bet.get_attribute("class") for bet in (one, other)] == ["bet wrong", "bet right"]
    assert "1 of 2 right" in other.find_element(By.TAG_NAME, "output").text
    browser.execute_script("localStorage.clear()")


PLACE = """
arguments[0].querySelector("input, select").value = arguments[1];
arguments[0].requestSubmit();"""


def place_bet(browser, page, key, given):
    visit(browser, page)
    alive = f'form.bet[data-key="{key}"]:not([hidden])'
    (form,) = wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, alive))
    browser.execute_script(PLACE, form, given)


def test_the_first_page_says_where_xla_was_over_and_underrated(browser, address):
    first = f"{address}/site/index.html"
    visit(browser, first)
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    assert not browser.find_element(By.ID, "your-bets").is_displayed()
    for name, key, given in (
        (NAMES[0], "01-guess-kernels-0", "99"),  # wrong, and nothing of XLA
        (NAMES[0], "01-guess-fusion-0", "1"),  # fewer kernels than XLA makes
        (NAMES[1], "02-count-guess-1", "99"),  # more compilations than XLA needs
        (NAMES[2], "03-guess-trap-0", "stop with an error"),
        (NAMES[2], "03-guess-trap-1", "stop with an error"),  # which XLA does not
        (NAMES[4], "05-guess-switch-0", "2"),  # more programs than XLA compiles
        (NAMES[7], "08-guess-mend-0", "no faster than before"),
    ):
        place_bet(browser, f"{address}/site/notebooks/{name}.html", key, given)
    browser.find_element(By.CSS_SELECTOR, "form.wrong output a").send_keys(Keys.ENTER)
    (score,) = wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, "#your-bets:not([hidden])"))
    assert browser.current_url == f"{first}#your-bets"
    assert score.text == (
        "Your bets so far: 1 of 7 right. In 3 you expected more of XLA than it gave: 01, 03, 05. "
        "In 2 XLA gave more than you expected: 02, 08."
    )
    links = score.find_elements(By.TAG_NAME, "a")
    ends = [link.get_attribute("href").rpartition("#bet-")[2] for link in links]
    over = ["01-guess-fusion-0", "03-guess-trap-1", "05-guess-switch-0"]
    assert ends == [*over, "02-count-guess-1", "08-guess-mend-0"]
    links[1].send_keys(Keys.ENTER)
    (form,) = wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, ".wrong:has(:target)"))
    assert form.is_displayed() and form.get_attribute("data-key") == over[1]
    check_page(browser)
    browser.execute_script("localStorage.clear()")


def test_no_bet_is_on_paper(browser, address):
    notebook = f"{address}/site/notebooks/{NAMES[0]}.html"
    place_bet(browser, notebook, "01-guess-fusion-0", "1")
    for page, part in ((f"{address}/site/index.html", "#your-bets"), (notebook, "form.bet")):
        for look in ("desktop", "paper"):
            visit(browser, page, look)
            alive = f"{part}:not([hidden])"
            bets = wait_for(lambda alive=alive: browser.find_elements(By.CSS_SELECTOR, alive))
            assert {bet.is_displayed() for bet in bets} == {look == "desktop"}
    browser.execute_script("localStorage.clear()")


def test_all_answers_open_and_stay_so(browser, address):
    for number, name in enumerate(NAMES[:2]):
        visit(browser, f"{address}/site/notebooks/{name}.html")
        if not number:
            assert browser.execute_script(OPENED) == 0
            browser.find_element(By.CSS_SELECTOR, ".answers input").click()
        assert browser.execute_script(OPENED) > 2
    browser.execute_script("localStorage.clear()")


@pytest.mark.parametrize("page", TOUCHED[:2])
def test_without_a_script_there_is_something_to_see(browser, address, page):
    visit(browser, f"{address}/site/{page}.html")
    off = {"value": True}
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", off)
    browser.refresh()
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    box = browser.find_element(By.ID, "without-script")
    assert box.is_displayed() and box.size["height"] > 200
    assert not browser.find_element(By.CSS_SELECTOR, "article form").is_displayed()


SETTINGS = {
    "LabApp": {"expose_app_in_browser": True},
    "ServerApp": {"ip": "127.0.0.1", "port": 0, "open_browser": False},
    "IdentityProvider": {"token": "test"},
}
SESSION = "return !!window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session"
QUESTIONS = "return document.querySelectorAll('.jp-Dialog, .Toastify__toast').length"
# What would make the server ask other hosts.
FETCHES = {("127.0.0.1", f"/lab/api/{part}") for part in ("news", "update", "extensions")}
SAVE = """
const { commands, shell } = window.jupyterapp, context = shell.currentWidget.context;
context.sessionContext.session.kernel.info.then(() => commands.execute("docmanager:save"))
  .then(() => fetch(`/files/${context.path}?token=test`)).then(file => file.text())
  .catch(String).then(arguments[0]);"""
RUN_ALL = """
const app = window.jupyterapp, widget = app.shell.currentWidget;
(async () => {
  await widget.context.sessionContext.ready;
  const cells = [...widget.content.model.cells].filter(
    cell => cell.type === "code" && cell.sharedModel.source.trim());
  cells.forEach(cell => cell.clearExecution());
  await app.commands.execute("notebook:run-all-cells");
  await widget.context.sessionContext.shutdown();
  return cells.flatMap(cell => [cell.executionCount ? "" : "did not run",
    ...cell.outputs.toJSON().map(out => out.ename ?? (out.name === "stderr" ? out.text : ""))]
    .filter(Boolean).map(said => cell.id + ": " + said));
})().catch(error => [String(error)]).then(said => { window.said = said.join("\\n") || "well"; });
"""


@pytest.fixture(scope="module")
def lab_notebooks(tmp_path_factory):
    """The folder of notebooks that `lab` serves, a copy of ours."""
    home = tmp_path_factory.mktemp("home")
    return shutil.copytree(ROOT / "notebooks", home / "notebooks")


@pytest.fixture(scope="module")
def lab(lab_notebooks):
    """`make lab` for someone new to Jupyter, on a copy of the notebooks; gives its address."""
    home, folder = lab_notebooks.parent, lab_notebooks
    shutil.copytree(ROOT / "docs", home / "docs")
    (home / "jupyter_lab_config.json").write_text(json.dumps(SETTINGS))
    places = {f"JUPYTER_{kind}_DIR": str(home) for kind in ("CONFIG", "DATA", "RUNTIME")}
    command = ["make", "--old-file=set-up", "lab", f"FOLDER={folder}"]
    env = os.environ | places | {"XLA_RESULTS": str(home / "results")}
    server = subprocess.Popen(command, cwd=ROOT, env=env, start_new_session=True)
    try:
        state = wait_for(lambda: next(home.glob("jpserver-*.json"), None), 60)
        yield json.loads(state.read_text())["url"]
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


@pytest.mark.parametrize("name", NAMES)
def test_jupyterlab_asks_fetches_and_changes_nothing_and_runs_every_cell(browser, lab, name):
    visit(browser, f"{lab}lab/tree/notebooks/{name}.ipynb?token=test&reset")
    wait_for(lambda: browser.execute_script(SESSION), 120)
    assert browser.execute_script(QUESTIONS) == 0
    asked = {(request.hostname, request.path.rstrip("/")) for request in requests(browser)}
    assert asked and asked.isdisjoint(FETCHES) and {host for host, _ in asked} == {"127.0.0.1"}
    opened = (ROOT / f"notebooks/{name}.ipynb").read_text(encoding="utf-8")
    assert browser.execute_async_script(SAVE) == opened
    browser.execute_script(RUN_ALL)
    assert wait_for(lambda: browser.execute_script("return window.said"), 900) == "well"


HIDDEN = """
return window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => (cell.model.getMetadata("tags") ?? []).includes("answer"))
  .map(cell => cell.isHidden);"""


def test_run_all_spoils_no_guess_in_a_learner_copy(browser, lab, lab_notebooks):
    copy, _ = Fold().preprocess(nbformat.read(ROOT / f"notebooks/{NAMES[0]}.ipynb", 4), {})
    nbformat.write(copy, lab_notebooks / "learner.ipynb")
    visit(browser, f"{lab}lab/tree/notebooks/learner.ipynb?token=test&reset")
    wait_for(lambda: browser.execute_script(SESSION), 120)
    browser.execute_script(RUN_ALL)
    wait_for(lambda: browser.execute_script("return window.said"), 900)
    hidden = browser.execute_script(HIDDEN)
    assert len(hidden) > 10 and all(hidden)


CLICK = """
const content = window.jupyterapp.shell.currentWidget.content, word = arguments[0];
content.scrollToItem([...content.model.cells].findIndex(
  cell => cell.sharedModel.source.includes(`glossary.md#${word})`)));
const link = [...content.node.querySelectorAll("a")].find(a => a.hash === `#${word}`);
link?.click();
return !!link;"""
SEEN = """
const heading = [...document.querySelectorAll(".jp-MarkdownViewer h2")]
  .find(h => h.textContent.replace("¶", "").trim() === arguments[0]);
const top = heading?.getBoundingClientRect().top;
return top > 0 && top < innerHeight / 2;"""


@pytest.mark.parametrize("word", ["HLO", "interquartile range"])
def test_a_word_of_the_glossary_is_in_sight_in_jupyterlab(browser, lab, word):
    visit(browser, f"{lab}lab/tree/notebooks/{NAMES[0]}.ipynb?token=test&reset")
    wait_for(lambda: browser.execute_script(SESSION), 120)
    wait_for(lambda: browser.execute_script(CLICK, word.replace(" ", "-").lower()))
    wait_for(lambda: browser.execute_script(SEEN, word))
