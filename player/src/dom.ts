type Child = Node | string;

/** Makes an element with properties and children. Text only ever becomes text nodes. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** The one element that must be there; its absence is a mistake in the template, not a state. */
export function find<T extends Element>(root: ParentNode, selector: string, type: new () => T): T {
  const found = root.querySelector(selector);
  if (!(found instanceof type))
    throw new Error(`The template has no ${type.name} at "${selector}".`);
  return found;
}

/** Points the icon of a button at another symbol of the template's sprite. */
export function setIcon(button: Element, symbol: string): void {
  find(button, 'use', SVGUseElement).setAttribute('href', `#icon-${symbol}`);
}

/** Names a button for people who hear it and for people who point at it. */
export function setName(button: HTMLElement, name: string): void {
  button.setAttribute('aria-label', name);
  button.title = name;
}

/** Whether text runs from right to left here; horizontal scrolling then does as well. */
export function isRightToLeft(node: Element): boolean {
  return getComputedStyle(node).direction === 'rtl';
}

/** Writes the words below the icon of a button. */
export function setLabel(button: Element, text: string): void {
  find(button, 'span', HTMLElement).textContent = text;
}
