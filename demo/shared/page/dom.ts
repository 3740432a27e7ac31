/** Finds and creates elements, with types. */

/**
 * Returns the element with this id.
 *
 * @throws Error if the page has no such element: index.html and the script do not fit together
 */
export function byId<E extends HTMLElement>(id: string, kind: new () => E): E {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`index.html has no ${kind.name} with id="${id}"`);
}

/** Creates an element with a class and content. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  element.append(...content);
  return element;
}

/**
 * Sets the text only if it differs, so that a screen reader announces only changes of a live
 * region.
 */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Returns the color of a CSS custom property of the page, for drawing on a canvas, which knows no
 * `light-dark()`.
 */
export function cssColor(name: string): string {
  const probe = make('span', '');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
