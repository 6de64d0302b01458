/**
 * Renders components into a document without a browser, for tests of what a user reads and presses.
 * Import components only after `openPage`, because they read the page's address when they load.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Window } from 'happy-dom';
import type { ReactNode } from 'react';
import { transformSync } from 'rolldown/utils';
import { until } from '../server/test/waiting.ts';

// Node runs TypeScript, but neither JSX nor imports of styles and pictures.
registerHooks({
  load(url, context, nextLoad) {
    if (/\.(css|svg)$/.test(url)) {
      return { format: 'module', source: `export default ''`, shortCircuit: true };
    }
    if (!url.endsWith('.tsx')) return nextLoad(url, context);
    const file = fileURLToPath(url);
    const { code } = transformSync(file, readFileSync(file, 'utf8'), {
      jsx: { runtime: 'automatic' },
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

/** Makes this process a page with that address, and these entries in its storage. */
export function openPage(url: string, stored: Readonly<Record<string, string>> = {}): void {
  const page = new Window({ url });
  for (const name of Object.getOwnPropertyNames(page)) {
    const isNodes = name in globalThis && name !== 'navigator' && name !== 'localStorage';
    if (isNodes || /^\W|^_/.test(name)) continue;
    const value: unknown = Reflect.get(page, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  for (const [key, text] of Object.entries(stored)) page.localStorage.setItem(key, text);
}

/** Renders elements as the console does, without animations. */
export async function show(...elements: readonly ReactNode[]): Promise<void> {
  const { createElement } = await import('react');
  const { createRoot } = await import('react-dom/client');
  const { MantineProvider } = await import('@mantine/core');
  const { QueryClient, QueryClientProvider } = await import('@tanstack/react-query');
  const root = document.body.appendChild(document.createElement('main'));
  const client = new QueryClient();
  const inner = createElement(QueryClientProvider, { client }, ...elements);
  createRoot(root).render(createElement(MantineProvider, { env: 'test' }, inner));
}

/** All texts of elements with this role, in the order of the page. */
export const textsOf = (role: string): string[] =>
  [...document.querySelectorAll(`[role="${role}"]`)].map((one) => one.textContent ?? '');

/** Labels of the buttons within an element, or of the whole page. */
export const buttonsIn = (place: ParentNode = document): string[] =>
  [...place.querySelectorAll('button')].map((one) => one.textContent ?? '').filter(Boolean);

/** Waits for a button with this label, and presses it. */
export async function press(label: string, place: ParentNode = document): Promise<void> {
  await until(
    `the button ${label}`,
    () => buttonsIn(place),
    (labels) => labels.includes(label),
  );
  const found = [...place.querySelectorAll('button')].find((one) => one.textContent === label);
  assert.ok(found !== undefined);
  found.click();
}
