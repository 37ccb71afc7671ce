//! A page in the browser: what is in it, and what a user does to it.

use crate::browser::Browser;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

/// How long something may take to come about: only what never does takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A page that is open.
pub struct Page<'a> {
    browser: &'a mut Browser,
    session: String,
}

impl<'a> Page<'a> {
    pub(crate) fn new(browser: &'a mut Browser, session: String) -> Self {
        Self { browser, session }
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.browser.call(&self.session, method, parameters)
    }

    /// Goes to an address.
    pub fn open(&mut self, url: &str) {
        let answer = self.call("Page.navigate", &json!({ "url": url }));
        assert!(answer["errorText"].is_null(), "{url}: {}", answer["errorText"]);
        self.until("document.readyState === 'complete'");
    }

    /// The value of an expression, whose promise is awaited.
    ///
    /// # Panics
    /// If it throws.
    pub fn eval(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &parameters);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]["exception"]["description"]
        );
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    /// If that takes a minute: with the text of the page.
    pub fn until(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.eval(&format!("Boolean({expression})")) != true {
            if Instant::now() > deadline {
                let text = self.eval("location.href + '\\n' + document.body.innerText");
                panic!("{expression} has not come about; the page:\n{}", text.as_str().unwrap_or_default());
            }
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits until an element that is seen has this text.
    pub fn until_seen(&mut self, selector: &str, text: &str) {
        self.until(&seen(selector, text));
    }

    /// Presses a key, with what it does to a page.
    pub fn press(&mut self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            one if one.chars().count() == 1 => one,
            _ => "",
        };
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            _ => 0,
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.call(
                "Input.dispatchKeyEvent",
                &json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code }),
            );
        }
    }

    /// Writes text into what has the focus.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Clicks with a mouse on the first element with this text that is seen.
    pub fn click(&mut self, selector: &str, text: &str) {
        let find = seen(selector, text);
        self.until(&find);
        let place = self.eval(&format!(
            "(() => {{ const one = {find}; one.scrollIntoView({{ block: 'nearest' }}); const box = one.getBoundingClientRect(); \
             return [box.x + Math.min(box.width, 300) / 2, box.y + Math.min(box.height, 20) / 2]; }})()"
        ));
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let mouse =
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &mouse);
        }
    }

    /// Makes the window so large.
    pub fn resize(&mut self, width: u32, height: u32) {
        let phone = width < 600;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Says whether the user wants a dark page.
    pub fn prefer_dark(&mut self, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// What is seen, as PNG.
    pub fn picture(&mut self) -> Vec<u8> {
        let answer =
            self.call("Page.captureScreenshot", &json!({ "format": "png", "optimizeForSpeed": false }));
        BASE64_STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
    }

    /// What the browser has complained of since the last call.
    pub fn complaints(&mut self) -> Vec<String> {
        self.browser.complaints()
    }
}

/// Finds an element with this text that is seen.
fn seen(selector: &str, text: &str) -> String {
    let (selector, text) = (Value::from(selector), Value::from(text));
    format!(
        "[...document.querySelectorAll({selector})].find((one) => one.checkVisibility() && one.textContent.includes({text}))"
    )
}
