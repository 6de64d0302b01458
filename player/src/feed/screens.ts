import { type ReelfeedError } from '@reelfeed/client';
import { element, find } from '../page/dom.ts';
import { type Texts } from '../texts.ts';

/** States shown instead of the feed, at most one at a time. */
export class Screens {
  readonly #screen: HTMLElement;
  readonly #texts: Texts;

  constructor(root: ParentNode, texts: Texts) {
    this.#screen = find(root, '#screen', HTMLElement);
    this.#texts = texts;
  }

  hide(): void {
    this.#screen.hidden = true;
    this.#screen.replaceChildren();
  }

  #show(name: string, title: string, ...content: (Node | string)[]): void {
    const heading = element('h1', { id: 'screen-title' }, title);
    this.#screen.setAttribute('aria-labelledby', heading.id);
    this.#screen.dataset['name'] = name;
    this.#screen.replaceChildren(element('div', { className: 'card' }, heading, ...content));
    this.#screen.hidden = false;
  }

  /** Asks for a publishable key. `problem` says why the last one was not accepted. */
  showKeyForm(problem: string | null, accept: (key: string) => void): void {
    const texts = this.#texts;
    const input = element('input', {
      id: 'key',
      name: 'key',
      placeholder: texts.keyHint,
      autocomplete: 'off',
      spellcheck: false,
    });
    input.autocapitalize = 'off';
    const failed = element('p', { id: 'key-problem', className: 'failed' });
    failed.setAttribute('role', 'alert');
    const complain = (text: string | null): void => {
      failed.hidden = text === null;
      failed.textContent = text ?? '';
      input.setAttribute('aria-invalid', String(text !== null));
      input.setAttribute('aria-describedby', failed.id);
    };
    const label = element('label', { htmlFor: input.id }, texts.keyLabel);
    const button = element('button', { className: 'primary' }, texts.keyButton);
    const form = element('form', {}, label, input, failed, button);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const key = input.value.trim();
      const fault = faultOf(key, texts);
      if (fault === null) accept(key);
      else complain(fault);
    });
    this.#show('key', texts.keyTitle, element('p', {}, texts.keyText), form);
    complain(problem);
    input.focus();
  }

  /**
   * Shown while there is no video. `command` uploads a first one; null on embedding pages, whose
   * viewers can't upload.
   */
  showEmpty(command: string | null, copy: (text: string) => void): void {
    const texts = this.#texts;
    // Called repeatedly. Rebuilding it would take the focus away from its button.
    if (this.#screen.dataset['name'] === 'empty' && !this.#screen.hidden) return;
    if (command === null) {
      this.#show('empty', texts.emptyTitle);
      return;
    }
    const button = element('button', { type: 'button', className: 'primary' }, texts.copyCommand);
    button.addEventListener('click', () => copy(command));
    const code = element('pre', { tabIndex: 0 }, command);
    this.#show('empty', texts.emptyTitle, element('p', {}, texts.emptyText), code, button);
  }

  /** Shown if the first page was rejected. `otherKey` is offered if a viewer may enter one. */
  showFailure(error: ReelfeedError, retry: () => void, otherKey: (() => void) | null): void {
    const texts = this.#texts;
    const again = element('button', { type: 'button', className: 'primary' }, texts.retry);
    again.addEventListener('click', retry);
    const row = element('div', { className: 'row' }, again);
    if (otherKey !== null) {
      const change = element('button', { type: 'button' }, texts.otherKey);
      change.addEventListener('click', otherKey);
      row.append(change);
    }
    const reason = element('p', {}, texts.failedText(error.message, error.code));
    reason.setAttribute('role', 'alert');
    const content = [reason, row];
    if (error.requestId !== null) {
      content.splice(1, 0, element('p', {}, texts.requestId(error.requestId)));
    }
    const title = error.status === 404 ? texts.goneTitle : texts.failedTitle;
    this.#show('failure', title, ...content);
  }
}

/** Why a text cannot be a publishable key, or null to let the service decide. */
export function faultOf(key: string, texts: Texts): string | null {
  if (key === '') return texts.keyMissing;
  if (key.startsWith('rf_sk_')) return texts.keySecret;
  return /^[\w-]{1,200}$/.test(key) ? null : texts.keyMalformed;
}

/** The command that uploads a first video. */
export function uploadCommand(serviceUrl: string): string {
  return [
    `curl -X POST ${serviceUrl}v1/content/upload \\`,
    `  -H "Authorization: Bearer rf_sk_…" \\`,
    `  -F title="My first video" -F file=@video.mp4`,
  ].join('\n');
}

/** The card after the last slide. */
export function endCard(texts: Texts, checkAgain: () => void, backToTop: () => void): HTMLElement {
  const check = element('button', { type: 'button' }, texts.checkAgain);
  check.addEventListener('click', checkAgain);
  const top = element('button', { type: 'button', className: 'quiet' }, texts.backToTop);
  top.addEventListener('click', backToTop);
  const heading = element('h2', {}, texts.endTitle);
  const row = element('div', { className: 'row' }, check, top);
  const text = element('p', {}, texts.endText);
  const card = element('div', { className: 'card' }, heading, text, row);
  return element('article', { className: 'slide end', ariaLabel: texts.endTitle }, card);
}
