/** Tests what keys do, and which keys are left to controls and the browser. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { useWindow } from '../../dom-window.fixture.ts';
import { listenToKeys, type KeyActions } from './keyboard.ts';

const window = useWindow();
const { document } = window;
document.body.innerHTML = `
  <button><i id="label"></i></button><a id="link" href="#"></a><p id="text"></p>
  <div class="menu"><i id="entry"></i></div><div class="pictures"><i id="picture"></i></div>
  <input id="field"><input id="range" type="range">`;

let done: string[] = [];
const note =
  (name: string) =>
  (...given: number[]) =>
    void done.push([name, ...given].join(' '));
const actions = Object.fromEntries(
  [
    ...['step', 'togglePlay', 'toggleMute', 'toggleLike', 'toggleSave', 'toggleCaptions'],
    ...['share', 'toggleFullScreen', 'seekBy'],
  ].map((name) => [name, note(name)]),
) as unknown as KeyActions;

const end = new AbortController();
let swipeKeys = { before: '', after: '' };
listenToKeys(document, actions, { signal: end.signal, swipeKeys: () => swipeKeys });

/** The action of a key, and whether the browser's default was prevented. */
function press(key: string, at = 'text', given: KeyboardEventInit = {}): string {
  done = [];
  const event = new window.KeyboardEvent('keydown', {
    key,
    bubbles: true,
    composed: true,
    cancelable: true,
    ...given,
  });
  document.getElementById(at)?.dispatchEvent(event);
  assert.equal(event.defaultPrevented, done.length > 0 || given.repeat === true);
  return done.join();
}

test('arrows and letters lead through the feed, in either case', () => {
  for (const key of ['ArrowDown', 'PageDown', 'j', 'J']) assert.equal(press(key), 'step 1', key);
  for (const key of ['ArrowUp', 'PageUp', 'k', 'K']) assert.equal(press(key), 'step -1', key);
  assert.equal(press('ArrowRight'), 'seekBy 5');
  assert.equal(press('ArrowLeft'), 'seekBy -5');
  const names = { m: 'toggleMute', l: 'toggleLike', b: 'toggleSave', c: 'toggleCaptions' };
  for (const [key, name] of Object.entries({ ...names, s: 'share', f: 'toggleFullScreen' }))
    assert.equal(press(key), name);
  assert.equal(press('x'), '');
});

test('keys of the browser and of other listeners are left alone', () => {
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey'])
    assert.equal(press('f', 'text', { [modifier]: true }), '', modifier);
  const prevent = (event: Event) => event.preventDefault();
  document.getElementById('text')?.addEventListener('keydown', prevent, { once: true });
  done = [];
  const event = new window.KeyboardEvent('keydown', { key: 'm', bubbles: true, cancelable: true });
  document.getElementById('text')?.dispatchEvent(event);
  assert.deepEqual(done, []);
});

test('controls keep the keys that press them, and fields and menus keep all keys', () => {
  assert.equal(press(' '), 'togglePlay');
  for (const at of ['label', 'link']) assert.equal(press(' ', at), '', at);
  assert.equal(press('m', 'label'), 'toggleMute');
  for (const at of ['field', 'entry']) assert.equal(press('m', at), '', at);
  assert.equal(press('m', 'range'), 'toggleMute');
  assert.equal(press('ArrowRight', 'picture'), '', 'pictures move by themselves');
  assert.equal(press('ArrowDown', 'picture'), 'step 1');
});

test('a held key keeps moving, and toggles nothing back and forth', () => {
  assert.equal(press('j', 'text', { repeat: true }), 'step 1');
  assert.equal(press('m', 'text', { repeat: true }), '');
});

test('in a horizontal feed the arrows swipe, and after the end no key does anything', () => {
  swipeKeys = { before: 'ArrowRight', after: 'ArrowLeft' };
  assert.equal(press('ArrowLeft'), 'step 1');
  assert.equal(press('ArrowRight'), 'step -1');
  end.abort();
  assert.equal(press('j'), '');
});
