//! Pages in a real browser: nothing goes wrong in them, nothing is fetched, nothing sticks out, and the keyboard is
//! enough. `ZOOCHECK_SCREENSHOTS=DIR` keeps what they look like; `ZOOCHECK_PAGE=FILE` looks at that page instead.

mod chromium;

use chromium::{Chromium, program};
use serde_json::Value;
use std::path::PathBuf;
use zk_reports::Report;

const WIDE: u32 = 1280;
/// The words beside a picture have no room there, and it is scrolled.
const MIDDLE: u32 = 800;
const NARROW: u32 = 390;

/// A page on a disk, and a browser; `None` where there is no browser.
fn browser() -> Option<(Chromium, PathBuf, tempfile::TempDir)> {
    let program = program()?;
    let dir = tempfile::tempdir().expect("a directory");
    let file = match std::env::var_os("ZOOCHECK_PAGE") {
        Some(file) => file.into(),
        None => {
            let file = dir.path().join("index.html");
            std::fs::write(&file, crate::sample::sweep(2, 40).html()).expect("written");
            file
        }
    };
    Some((Chromium::start(&program), file, dir))
}

/// Scrolls to the first diagram, and waits until its script has been there. The others are drawn when they come near.
const DRAWN: &str = "document.querySelector('figure.diagram').scrollIntoView(), \
    zoocheck.diagrams.some((one) => one.figure === document.querySelector('figure.diagram'))";

fn complaints(browser: &Chromium) -> Vec<&Value> {
    let is_complaint = |told: &&Value| {
        let method = told["method"].as_str().unwrap_or_default();
        let kinds = [
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Page.javascriptDialogOpening",
        ];
        kinds.contains(&method)
    };
    browser.told.iter().filter(is_complaint).collect()
}

fn fetched(browser: &Chromium) -> Vec<&str> {
    let requests = browser.told.iter().filter(|told| told["method"] == "Network.requestWillBeSent");
    requests.filter_map(|told| told["params"]["request"]["url"].as_str()).collect()
}

#[test]
fn a_page_complains_of_nothing_fetches_nothing_and_fits() {
    let Some((mut browser, file, _dir)) = browser() else { return };
    for (width, dark) in [(WIDE, false), (WIDE, true), (MIDDLE, false), (NARROW, false), (NARROW, true)] {
        browser.open(&file, width, 900, dark);
        browser.wait_for(DRAWN);
        browser.eval("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
        browser.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        assert_eq!(complaints(&browser), Vec::<&Value>::new(), "{width}");
        let other: Vec<&str> =
            fetched(&browser).into_iter().filter(|url| !url.starts_with("file:")).collect();
        assert!(other.iter().all(|url| *url == "data:,"), "{width}: {other:?}");
        let wide = browser.eval("document.documentElement.scrollWidth");
        assert_eq!(wide, width, "nothing sticks out");
        let ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] < 128";
        assert_eq!(browser.eval(ground), dark, "light or dark as the reader has it");
        let clipped = "[...document.querySelectorAll('.pane')].some((pane) => [...pane.querySelectorAll('.w')]\
             .some((text) => text.getBoundingClientRect().right > pane.querySelector('.body').getBoundingClientRect().right))";
        assert_eq!(browser.eval(clipped), false, "{width}: words beyond the right edge");
        if let Some(dir) = std::env::var_os("ZOOCHECK_SCREENSHOTS") {
            shots(
                &mut browser,
                &PathBuf::from(dir),
                &format!("{width}-{}", if dark { "dark" } else { "light" }),
            );
        }
    }
}

fn shots(browser: &mut Chromium, dir: &std::path::Path, name: &str) {
    for (part, place) in [("top", "body"), ("diagram", "figure.diagram"), ("end", "body > footer")] {
        browser.eval(&format!("document.querySelector('{place}').scrollIntoView()"));
        std::thread::sleep(std::time::Duration::from_millis(300));
        let picture = browser.screenshot();
        std::fs::write(dir.join(format!("{name}-{part}.png")), picture).expect("written");
    }
}

/// Presses Tab until something has the focus.
fn tab_to(browser: &mut Chromium, selector: &str) {
    for _ in 0..400 {
        if browser.eval(&format!("document.activeElement.matches({selector:?})")) == true {
            return;
        }
        browser.press("Tab");
    }
    panic!("Tab never comes to {selector}");
}

/// The lines that say why are all that there is, each in sight with its time and its words.
const WHY: &str = "(() => { const pane = document.querySelector('.pane'), box = pane.getBoundingClientRect(); \
    const all = [...pane.querySelectorAll('.p.cause .w')], seen = [...pane.querySelectorAll('.p:not(.off) .w')]; \
    const [is, at] = [all.length > 1 && seen.length === all.length, all.map((node) => node.getBoundingClientRect())]; \
    return is && at.every((line) => line.top > box.top && line.bottom < box.bottom) \
        && all.every((node) => /^[0-9]/.test(node.textContent) || node.textContent.startsWith('step')); })()";

/// What is told five pixels beside the middle of an arrow.
const BESIDE: &str = "(() => { const body = document.querySelector('svg.body'), box = body.getBoundingClientRect(); \
    const all = [...body.querySelectorAll('.a:not(.off)')], last = all[all.length - 1]; \
    const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map((name) => last[name].baseVal.value); \
    const long = Math.hypot(x2 - x1, y2 - y1), [over, down] = [(y1 - y2) / long * 5, (x2 - x1) / long * 5]; \
    const at = { clientX: box.left + (x1 + x2) / 2 + over, clientY: box.top + (y1 + y2) / 2 + down }; \
    body.dispatchEvent(new PointerEvent('pointermove', at)); \
    return document.querySelector('.said').textContent; })()";

#[test]
fn lanes_znodes_and_zoom_work_by_keyboard() {
    let Some((mut browser, file, _dir)) = browser() else { return };
    browser.open(&file, WIDE, 900, false);
    browser.eval(
        "document.querySelectorAll('article').forEach((one) => { one.style.marginBottom = '3000px'; })",
    );
    browser.wait_for(DRAWN);
    browser.wait_for(WHY);
    tab_to(&mut browser, "button[data-do='why']");
    browser.press(" ");
    browser.wait_for("document.querySelector('[data-do=why]').getAttribute('aria-pressed') === 'false'");
    let first = "(() => { const pane = document.querySelector('.pane'), line = pane.querySelector('.p.cause'); \
                 const [box, at] = [pane, line].map((node) => node.getBoundingClientRect()); \
                 return at.top > box.top && at.bottom < box.bottom; })()";
    assert_eq!(browser.eval(first), true, "the whole begins where the first of them stands");
    let shown = "document.querySelector('figure.diagram').querySelectorAll('.a:not(.off)').length";
    let all = browser.eval(shown).as_u64().expect("a number");
    assert!(all > 5, "{all}");
    // Nothing in this diagram depends on when another is drawn, which was far away until now.
    browser.eval("document.querySelectorAll('figure.diagram')[1]?.scrollIntoView()");
    browser.wait_for(
        "zoocheck.diagrams.length >= Math.min(2, document.querySelectorAll('figure.diagram').length)",
    );
    browser.eval("document.querySelector('figure.diagram').scrollIntoView()");

    tab_to(&mut browser, "button[data-lane='1']");
    browser.press(" ");
    let fewer = browser.eval(shown).as_u64().expect("a number");
    assert!(fewer > 0 && fewer < all, "{fewer} of {all} arrows from p0 and to it");
    let others = "[...document.querySelector('figure.diagram').querySelectorAll('.a:not(.off)')]\
                  .every((arrow) => arrow.dataset.l.split(' ').includes('1'))";
    assert_eq!(browser.eval(others), true);
    browser.press(" ");
    assert_eq!(browser.eval(shown), all, "and back");

    tab_to(&mut browser, "select[data-znode]");
    browser.press("ArrowDown");
    browser.wait_for("document.querySelector('select[data-znode]').value === '0'");
    let of_one = browser.eval(shown).as_u64().expect("a number");
    assert!(of_one > 0 && of_one < all, "{of_one} of {all} arrows of one znode");

    tab_to(&mut browser, ".pane");
    browser.press("0");
    browser.wait_for(&format!("{shown} === {all}"));
    browser.press("w");
    browser.wait_for(WHY);
    browser.press("w");
    browser.wait_for(&format!("{shown} === {all}"));
    let whole = "document.querySelector('select[data-znode]').value === '' \
                 && document.querySelectorAll('[data-lane][aria-pressed=true]').length === 0";
    assert_eq!(browser.eval(whole), true, "a reset resets all of it");
    let height = "document.querySelector('svg.body').height.baseVal.value";
    let before = browser.eval(height).as_f64().expect("a number");
    browser.press("+");
    let after = browser.eval(height).as_f64().expect("a number");
    assert!(after > before * 1.2, "{before} to {after}");
    browser.press("0");
    assert_eq!(browser.eval(height).as_f64(), Some(before));
    browser.press("b");
    let said = browser.eval("document.querySelector('.said').textContent");
    let broken = if std::env::var_os("ZOOCHECK_PAGE").is_some() { "BROKEN " } else { "BROKEN exclusion" };
    assert!(said.as_str().is_some_and(|said| said.contains(broken)), "{said}");
    browser.press("p");
    assert_ne!(browser.eval("document.querySelector('.said').textContent"), said);
    browser.press("Escape");
    assert_eq!(browser.eval("document.querySelector('.said').textContent"), "");
    browser.press("p");
    assert_eq!(browser.eval("document.querySelector('.said').textContent"), said, "from the end");
    browser.press("Enter");
    let why = "document.querySelector('figure.diagram .p.on').classList.contains('cause')";
    assert_eq!(browser.eval(why), true, "the first that says why");
    browser.press("Escape");
    let told = browser.eval(BESIDE);
    assert!(told.as_str().is_some_and(|told| told.contains("sent at")), "{told}");
    assert_eq!(complaints(&browser), Vec::<&Value>::new());
}

#[test]
fn what_users_named_is_shown_and_never_run() {
    let Some((mut browser, file, _dir)) = browser() else { return };
    browser.open(&file, WIDE, 900, false);
    browser.wait_for(DRAWN);
    assert_eq!(browser.eval("document.scripts.length"), 1);
    assert_eq!(browser.eval("document.images.length"), 0);
    if std::env::var_os("ZOOCHECK_PAGE").is_none() {
        let hostile = serde_json::to_string(crate::sample::HOSTILE).expect("a text");
        assert_eq!(browser.eval(&format!("document.body.innerText.includes({hostile})")), true);
    }
    // And were one to get in after all: the page's own policy is in its way.
    let injected = "(() => { const one = document.createElement('script'); one.textContent = 'window.ran = 1'; \
                    document.body.append(one); return window.ran === undefined; })()";
    assert_eq!(browser.eval(injected), true);
    let fetching = "fetch('http://127.0.0.1:9/').then(() => 'fetched', () => 'refused')";
    assert_eq!(browser.eval(fetching), "refused");
    assert!(complaints(&browser).iter().any(|told| told.to_string().contains("Content Security Policy")));
}
