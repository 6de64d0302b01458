import { type ReelfeedError } from '@reelfeed/client';
import { element, find } from './dom.ts';
import { strings } from './strings.ts';

/** States that take the whole page. At most one is shown. */
const screen = find(document, '#screen', HTMLElement);

export function hideScreen(): void {
  screen.hidden = true;
  screen.replaceChildren();
}

function showScreen(name: string, title: string, ...content: (Node | string)[]): void {
  const heading = element('h1', { id: 'screen-title' }, title);
  screen.setAttribute('aria-labelledby', heading.id);
  screen.dataset['name'] = name;
  screen.replaceChildren(element('div', { className: 'card' }, heading, ...content));
  screen.hidden = false;
}

/** Asks for a publishable key. `problem` says why the last one did not do. */
export function showKeyForm(problem: string | null, accept: (key: string) => void): void {
  const input = element('input', {
    id: 'key',
    name: 'key',
    placeholder: strings.keyHint,
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
  const label = element('label', { htmlFor: input.id }, strings.keyLabel);
  const button = element('button', { className: 'primary' }, strings.keyButton);
  const form = element('form', {}, label, input, failed, button);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = input.value.trim();
    const fault = faultOf(key);
    if (fault === null) accept(key);
    else complain(fault);
  });
  showScreen('key', strings.keyTitle, element('p', {}, strings.keyText), form);
  complain(problem);
  input.focus();
}

/** Why a text cannot be a publishable key; null when the service should decide. */
export function faultOf(key: string): string | null {
  if (key === '') return strings.keyMissing;
  if (key.startsWith('rf_sk_')) return strings.keySecret;
  return /^[\w-]{1,200}$/.test(key) ? null : strings.keyMalformed;
}

/** Shown while the organization has no video: what to type to have the first one. */
export function showEmpty(serviceUrl: string, copy: (text: string) => void): void {
  // It is asked for again and again; building it anew would take the focus from its button.
  if (screen.dataset['name'] === 'empty' && !screen.hidden) return;
  const command = uploadCommand(serviceUrl);
  const button = element('button', { type: 'button', className: 'primary' }, strings.copyCommand);
  button.addEventListener('click', () => copy(command));
  const code = element('pre', { tabIndex: 0 }, command);
  showScreen('empty', strings.emptyTitle, element('p', {}, strings.emptyText), code, button);
}

function uploadCommand(serviceUrl: string): string {
  return [
    `curl -X POST ${serviceUrl}v1/content/upload \\`,
    `  -H "Authorization: Bearer rf_sk_…" \\`,
    `  -F title="My first video" -F file=@video.mp4`,
  ].join('\n');
}

/** The first page was refused for another reason than the key. */
export function showFailure(error: ReelfeedError, retry: () => void, otherKey: () => void): void {
  const again = element('button', { type: 'button', className: 'primary' }, strings.retry);
  again.addEventListener('click', retry);
  const change = element('button', { type: 'button' }, strings.otherKey);
  change.addEventListener('click', otherKey);
  const reason = element('p', {}, strings.failedText(error.message, error.code));
  reason.setAttribute('role', 'alert');
  const content = [reason, element('div', { className: 'row' }, again, change)];
  if (error.requestId !== null) {
    content.splice(1, 0, element('p', {}, strings.requestId(error.requestId)));
  }
  showScreen('failure', strings.failedTitle, ...content);
}

/** The stop after the last slide. */
export function endCard(checkAgain: () => void, backToTop: () => void): HTMLElement {
  const check = element('button', { type: 'button' }, strings.checkAgain);
  check.addEventListener('click', checkAgain);
  const top = element('button', { type: 'button', className: 'quiet' }, strings.backToTop);
  top.addEventListener('click', backToTop);
  const heading = element('h2', {}, strings.endTitle);
  const row = element('div', { className: 'row' }, check, top);
  const card = element(
    'div',
    { className: 'card' },
    heading,
    element('p', {}, strings.endText),
    row,
  );
  return element('section', { className: 'slide end', ariaLabel: strings.endTitle }, card);
}
