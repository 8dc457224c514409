/** Elements and texts. Texts go into the page as text only, never as markup. */

type Child = Node | string | number | null;
type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

const SVG = 'http://www.w3.org/2000/svg';

/** Without control characters and those that reverse the text around them. */
export function cleanText(text: string): string {
  return text.replace(/[\p{Cc}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu, '\ufffd');
}

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name, value as EventListener);
    } else if (value !== false) {
      element.setAttribute(name, value === true ? '' : cleanText(String(value)));
    }
  }
  for (const child of children) {
    if (child !== null) {
      element.append(child instanceof Node ? child : cleanText(String(child)));
    }
  }
}

/** An HTML element. Attributes that are functions become listeners; those that are false are left out. */
export function html<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
}

let lastId = 0;

/** A section of the page with its heading. */
export function section(title: string, about: string, ...children: Child[]): HTMLElement {
  const id = `section-${++lastId}`;
  return html(
    'section',
    { 'aria-labelledby': id },
    html('h2', { id }, title),
    about === '' ? null : html('p', { class: 'about' }, about),
    ...children,
  );
}
