// What tests need inside of a page: to wait for it, and to see that a click or a key arrives where it was meant to.
(() => {
  if (globalThis.driver) return;

  /** look is the longest time between two looks at the page. Most changes are seen at once. */
  const look = 100;

  /** The roots of the page: the document, and the open shadow roots of its own elements. */
  const roots = () => [document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)];

  const squeezed = (text) => (text ?? "").replace(/\s+/g, " ").trim();

  /** shows reports whether an element shows a text, or is labelled with it if it has only a picture. */
  const shows = (one, text) => {
    const shown = one.innerText ?? "";
    return shown.includes(text) || squeezed(shown).includes(text) || (squeezed(shown) === "" && (one.getAttribute("aria-label") ?? "").includes(text));
  };

  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;

  /** change ends with the next change of the page, or soon. */
  const change = () => new Promise((resolve) => {
    const observer = new MutationObserver(() => end()), timer = setTimeout(() => end(), look);
    const end = () => { observer.disconnect(); clearTimeout(timer); resolve(); };
    for (const root of roots()) observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  });

  /** until waits until a function returns something true, and returns it; it returns undefined after a time. */
  const until = async (holds, milliseconds) => {
    const last = performance.now() + milliseconds;
    for (;;) {
      let found = false;
      try { found = await holds(); } catch { /* What it asks for may not be there yet. */ }
      if (found || performance.now() > last) return found || undefined;
      await change();
    }
  };

  /** frame ends with the next picture of the page. A page that is not seen has none. */
  const frame = () => new Promise((resolve) => {
    const timer = setTimeout(resolve, look);
    requestAnimationFrame(() => { clearTimeout(timer); resolve(); });
  });

  const boxOf = (one) => { const { x, y, width, height } = one.getBoundingClientRect(); return [x, y, width, height]; };

  /** described returns the start of an element's markup. */
  const described = (one) => (one ? one.outerHTML.slice(0, 200) : "nothing");

  /** at returns the innermost element at a point, in shadow roots, too. */
  const at = (x, y) => {
    let one = document.elementFromPoint(x, y);
    while (one?.shadowRoot?.elementFromPoint(x, y)) one = one.shadowRoot.elementFromPoint(x, y);
    return one;
  };

  /** holdsOf reports whether an element, or one inside of it, is the other one; a label belongs to its control. */
  const takes = (one, other) => {
    for (let outer = other; outer; outer = outer.parentNode ?? outer.host) if (outer === one || (outer.localName === "label" && outer.control === one)) return true;
    return false;
  };

  /**
   * ready waits until an element is there, is seen, is enabled and does not move any more. It returns { one }, or
   * { why } with what it still lacks after a time.
   */
  const ready = async (find, milliseconds) => {
    const last = performance.now() + milliseconds;
    let why = "";
    for (;;) {
      let one;
      try { one = find(); } catch { /* Not yet. */ }
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

  /** watched is the element that an event is meant for: { one, hasArrived, missed }. */
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
      // The page has moved under the mouse. It must not see a click that was meant for another element.
      watched.missed = described(path[0]);
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true);
  }

  /** aim waits for an element, watches it, and returns its middle: { x, y } or { why }. */
  const aim = async (find, milliseconds) => {
    watched = null;
    const { one, why } = await ready(find, milliseconds);
    if (!one) return { why };
    const [left, top, width, height] = boxOf(one), x = left + width / 2, y = top + height / 2, hit = at(x, y);
    if (!takes(one, hit)) { await change(); return { why: `it is covered by ${described(hit)}` }; }
    watched = { one, type: "click", hasArrived: false, missed: "" };
    return { x, y };
  };

  /** arrived returns "" if the watched element got its event, and otherwise what got it. A new page has not watched. */
  const arrived = () => {
    const was = watched;
    watched = null;
    return !was || was.hasArrived ? "" : `it was missed, and this was hit: ${was.missed || "nothing"}`;
  };

  /** hasFocus reports whether an element has the focus. */
  const hasFocus = (one) => one.getRootNode().activeElement === one;

  /**
   * focus waits for a field, and puts the caret at the end of its text, or selects all of it. It returns
   * { value } with its text, or { why }.
   */
  let field = null;
  const focus = async (find, isReplaced, milliseconds) => {
    const { one, why } = await ready(find, milliseconds);
    if (!one) return { why };
    if (one.readOnly) return { why: "it is read-only" };
    one.focus();
    if (!hasFocus(one)) return { why: "it does not take the focus" };
    if (isReplaced) one.select();
    else if (one.selectionEnd !== null) one.setSelectionRange(one.value.length, one.value.length); // Not of numbers and addresses of mail.
    field = one;
    return { value: one.value };
  };

  /** holds waits until the field in focus has a text. It returns "", "replaced" or the text that it has instead. */
  const keeps = async (find, value, milliseconds) => {
    let one = null;
    const has = await until(() => { one = find(); return one !== field || one.value === value; }, milliseconds);
    if (one !== field) return one?.value === value ? "" : "replaced";
    return has ? "" : `it has the text ${JSON.stringify(one.value)}`;
  };

  /** keyed watches a field for a key, with the focus in it. */
  const keyed = async (find, milliseconds) => {
    const { why } = await focus(find, false, milliseconds);
    if (why) return { why };
    watched = { one: field, type: "keydown", hasArrived: false, missed: "" };
    return {};
  };

  /** selects chooses an option of a list, and returns "" or why not. */
  const selects = async (find, value, milliseconds) => {
    const { one, why } = await ready(find, milliseconds);
    if (!one) return why;
    if (!await until(() => [...one.options].some((option) => option.value === value), milliseconds)) return `it has no option ${value}`;
    one.value = value;
    for (const type of ["input", "change"]) one.dispatchEvent(new Event(type, { bubbles: true }));
    await frame();
    return find()?.value === value ? "" : "the page takes the choice back";
  };

  /** state describes the page for a test that fails. */
  const state = () => {
    let focused = document.activeElement;
    while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    const text = roots().map((root) => (root === document ? document.body?.innerText : [...root.children].map((one) => one.innerText).join("\n"))).filter(Boolean).join("\n-- in a shadow root:\n");
    const fields = roots().flatMap((root) => [...root.querySelectorAll("input, textarea, select")]).filter(isSeen).map((one) => `${one.id || one.name || one.type}=${JSON.stringify(one.value)}`).join(" ");
    return `${location.href} (${document.readyState}, ${document.visibilityState}, ${innerWidth} by ${innerHeight}), title ${JSON.stringify(document.title)}\nfocus: ${described(focused)}\nfields: ${fields}\n${text.slice(0, 6000)}`;
  };

  Object.defineProperty(globalThis, "driver", { value: { shows, isSeen, until, aim, arrived, focus, keeps, keyed, selects, state } });
})();
