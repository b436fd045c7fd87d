// Functions that tests run in a page: they wait for elements, and check that a click or a key reaches its target.
(() => {
  if (globalThis.driver) return;

  /** look is the longest time between two checks of the page, in milliseconds. Most changes trigger one at once. */
  const look = 100;

  /** roots returns the document, and the open shadow roots of its elements. */
  const roots = () => [document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)];

  const squeezed = (text) => (text ?? "").replace(/\s+/g, " ").trim();

  /** shows reports whether an element contains a text or, if it shows no text at all, has it in its label. */
  const shows = (one, text) => {
    const shown = one.innerText ?? "";
    return shown.includes(text) || squeezed(shown).includes(text) || (squeezed(shown) === "" && (one.getAttribute("aria-label") ?? "").includes(text));
  };

  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;

  /** change waits for the next change of the page, but at most for look. */
  const change = () => new Promise((resolve) => {
    const observer = new MutationObserver(() => end()), timer = setTimeout(() => end(), look);
    const end = () => { observer.disconnect(); clearTimeout(timer); resolve(); };
    for (const root of roots()) observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  });

  /** until waits until a function returns a true value, and returns that value, or undefined after a timeout. */
  const until = async (holds, milliseconds) => {
    const last = performance.now() + milliseconds;
    for (;;) {
      let found = false;
      try { found = await holds(); } catch { /* An element may not exist yet. */ }
      if (found || performance.now() > last) return found || undefined;
      await change();
    }
  };

  /** frame waits for the next animation frame, but at most for look: a hidden page has no frames. */
  const frame = () => new Promise((resolve) => {
    const timer = setTimeout(resolve, look);
    requestAnimationFrame(() => { clearTimeout(timer); resolve(); });
  });

  const boxOf = (one) => { const { x, y, width, height } = one.getBoundingClientRect(); return [x, y, width, height]; };

  /** described returns the start of an element's markup. */
  const described = (one) => (one ? one.outerHTML.slice(0, 200) : "nothing");

  /** at returns the innermost element at a point, including elements in shadow roots. */
  const at = (x, y) => {
    let one = document.elementFromPoint(x, y);
    while (one?.shadowRoot?.elementFromPoint(x, y)) one = one.shadowRoot.elementFromPoint(x, y);
    return one;
  };

  /** takes reports whether one gets the clicks on other: other is one, is inside it, or is in its label. */
  const takes = (one, other) => {
    for (let outer = other; outer; outer = outer.parentNode ?? outer.host) if (outer === one || (outer.localName === "label" && outer.control === one)) return true;
    return false;
  };

  /**
   * ready waits until an element exists, is visible, is enabled and no longer moves. It returns { one } with the
   * element, or after a timeout { why } with the reason why it is not ready.
   */
  const ready = async (find, milliseconds) => {
    const last = performance.now() + milliseconds;
    let why = "";
    for (;;) {
      let one;
      try { one = find(); } catch { /* The element may not exist yet. */ }
      if (!one) why = "it is not there";
      else if (!isSeen(one)) why = "it is hidden";
      else if (one.matches(":disabled, [aria-disabled='true']")) why = "it is disabled";
      else {
        one.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
        const before = boxOf(one);
        await frame();
        await frame();
        if (!one.isConnected || find() !== one) why = "the page replaces it";
        else if (boxOf(one).some((value, i) => value !== before[i])) why = "it moves";
        else return { one };
        if (performance.now() > last) return { why };
        continue;
      }
      if (performance.now() > last) return { why };
      await change();
    }
  };

  /** watched is the element that an event should reach: { one, type, hasArrived, missed }. */
  let watched = null;
  const mouse = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
  for (const type of [...mouse, "keydown"]) {
    addEventListener(type, (event) => {
      if (!watched || mouse.includes(type) !== mouse.includes(watched.type)) return;
      const path = event.composedPath();
      if (path.includes(watched.one) || takes(watched.one, path[0])) {
        if (type === watched.type) watched.hasArrived = true;
        return;
      }
      // The page has moved under the mouse. Stop the event, so that the wrong element does not get it.
      watched.missed = described(path[0]);
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true);
  }

  /** aim waits for an element, watches it for a click, and returns { x, y } with its middle, or { why }. */
  const aim = async (find, milliseconds) => {
    watched = null;
    const { one, why } = await ready(find, milliseconds);
    if (!one) return { why };
    const [left, top, width, height] = boxOf(one), x = left + width / 2, y = top + height / 2, hit = at(x, y);
    if (!takes(one, hit)) { await change(); return { why: `it is covered by ${described(hit)}` }; }
    watched = { one, type: "click", hasArrived: false, missed: "" };
    return { x, y };
  };

  /** arrived returns "" if the watched element got its event, or if a new page has loaded. Else it returns what was hit. */
  const arrived = () => {
    const was = watched;
    watched = null;
    return !was || was.hasArrived ? "" : `it was missed, and this was hit: ${was.missed || "nothing"}`;
  };

  const hasFocus = (one) => one.getRootNode().activeElement === one;

  /** field is the field that focus has focused last. */
  let field = null;
  /**
   * focus waits for a field and focuses it. It puts the caret at the end of the text, or selects the whole text. It
   * returns { value } with the text, or { why }.
   */
  const focus = async (find, isReplaced, milliseconds) => {
    const { one, why } = await ready(find, milliseconds);
    if (!one) return { why };
    if (one.readOnly) return { why: "it is read-only" };
    one.focus();
    if (!hasFocus(one)) return { why: "it does not take the focus" };
    if (isReplaced) one.select();
    else if (one.selectionEnd !== null) one.setSelectionRange(one.value.length, one.value.length); // Number and e-mail fields have no selection.
    field = one;
    return { value: one.value };
  };

  /**
   * keeps waits until the focused field has a text. It returns "", or "replaced" if the page has replaced the field, or
   * a message with the text that the field has instead.
   */
  const keeps = async (find, value, milliseconds) => {
    let one = null;
    const has = await until(() => { one = find(); return one !== field || one.value === value; }, milliseconds);
    if (one !== field) return one?.value === value ? "" : "replaced";
    return has ? "" : `it has the text ${JSON.stringify(one.value)}`;
  };

  /** keyed focuses a field and watches it for a key. It returns {} or { why }. */
  const keyed = async (find, milliseconds) => {
    const { why } = await focus(find, false, milliseconds);
    if (why) return { why };
    watched = { one: field, type: "keydown", hasArrived: false, missed: "" };
    return {};
  };

  /** selects chooses an option of a list. It returns "", or the reason for a failure. */
  const selects = async (find, value, milliseconds) => {
    const { one, why } = await ready(find, milliseconds);
    if (!one) return why;
    if (!await until(() => [...one.options].some((option) => option.value === value), milliseconds)) return `it has no option ${value}`;
    one.value = value;
    for (const type of ["input", "change"]) one.dispatchEvent(new Event(type, { bubbles: true }));
    await frame();
    return find()?.value === value ? "" : "the page takes the choice back";
  };

  /** state describes the page, for the message of a failed test. */
  const state = () => {
    let focused = document.activeElement;
    while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    const text = roots().map((root) => (root === document ? document.body?.innerText : [...root.children].map((one) => one.innerText).join("\n"))).filter(Boolean).join("\n-- in a shadow root:\n");
    const fields = roots().flatMap((root) => [...root.querySelectorAll("input, textarea, select")]).filter(isSeen).map((one) => `${one.id || one.name || one.type}=${JSON.stringify(one.value)}`).join(" ");
    return `${location.href} (${document.readyState}, ${document.visibilityState}, ${innerWidth} by ${innerHeight}), title ${JSON.stringify(document.title)}\nfocus: ${described(focused)}\nfields: ${fields}\n${text.slice(0, 6000)}`;
  };

  Object.defineProperty(globalThis, "driver", { value: { shows, isSeen, until, aim, arrived, focus, keeps, keyed, selects, state } });
})();
