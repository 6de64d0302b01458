type Child = Node | string;

/** Creates an element with properties and children. Text is only ever added as text nodes. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** Finds an element that must exist. Its absence is a bug in the template. */
export function find<T extends Element>(root: ParentNode, selector: string, type: new () => T): T {
  const found = root.querySelector(selector);
  if (!(found instanceof type))
    throw new Error(`The template has no ${type.name} matching "${selector}".`);
  return found;
}

/** Changes a button's icon to another symbol of the template's sprite. */
export function setIcon(button: Element, symbol: string): void {
  find(button, 'use', SVGUseElement).setAttribute('href', `#icon-${symbol}`);
}

export function setName(button: HTMLElement, name: string): void {
  button.setAttribute('aria-label', name);
  button.title = name;
}

/** Whether the text direction is right to left, which also affects horizontal scrolling. */
export function isRightToLeft(node: Element): boolean {
  return getComputedStyle(node).direction === 'rtl';
}

/** Writes the words below the icon of a button. */
export function setLabel(button: Element, text: string): void {
  find(button, 'span', HTMLElement).textContent = text;
}
