/** Which view belongs to which address. Each is a file of its own, loaded when it is opened first. */
import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import { PageNotLoadedError } from './boundary.tsx';
import { reloadIfUpgraded } from './upgrade.ts';

type ViewComponent = ComponentType<{ id: string }>;

/** The code of a page. What could not be loaded stays so until `loadAgain`. */
export class ViewLoader {
  readonly #load: () => Promise<ViewComponent>;
  #component: LazyExoticComponent<ViewComponent>;

  constructor(load: () => Promise<ViewComponent>) {
    this.#load = load;
    this.#component = this.#make();
  }

  get component(): LazyExoticComponent<ViewComponent> {
    return this.#component;
  }

  loadAgain(): void {
    this.#component = this.#make();
  }

  #make(): LazyExoticComponent<ViewComponent> {
    return lazy(async () => ({ default: await this.#load() }));
  }
}

const load = (name: string, from: () => Promise<Record<string, unknown>>): ViewLoader =>
  new ViewLoader(async () => {
    try {
      return (await from())[name] as ViewComponent;
    } catch (cause) {
      // The reload ends this page; until then it is loading.
      if (await reloadIfUpgraded()) return await new Promise<never>(() => {});
      throw new PageNotLoadedError('The page could not be loaded.', { cause });
    }
  });

const views: readonly { path: RegExp; view: ViewLoader }[] = [
  [/^\/overview$/, load('OverviewPage', () => import('./pages/overview.tsx'))],
  [/^\/content$/, load('LibraryPage', () => import('./pages/library.tsx'))],
  [/^\/content\/jobs$/, load('JobsPage', () => import('./pages/jobs.tsx'))],
  [/^\/content\/jobs\/([^/]+)$/, load('JobPage', () => import('./pages/job.tsx'))],
  [/^\/content\/import$/, load('ImportPage', () => import('./pages/import.tsx'))],
  [/^\/content\/([^/]+)$/, load('ItemPage', () => import('./pages/item.tsx'))],
  [/^\/live$/, load('LivePage', () => import('./pages/live.tsx'))],
  [/^\/live\/([^/]+)$/, load('LiveStreamPage', () => import('./pages/live-stream.tsx'))],
  [/^\/feed$/, load('FeedPage', () => import('./pages/feed.tsx'))],
  [/^\/experiments$/, load('ExperimentsPage', () => import('./pages/experiments.tsx'))],
  [/^\/experiments\/new$/, load('NewExperimentPage', () => import('./pages/experiment-form.tsx'))],
  [/^\/experiments\/([^/]+)$/, load('ExperimentPage', () => import('./pages/experiment.tsx'))],
  [/^\/webhooks$/, load('WebhooksPage', () => import('./pages/webhooks.tsx'))],
  [/^\/webhooks\/([^/]+)$/, load('WebhookPage', () => import('./pages/webhook.tsx'))],
  [/^\/exports$/, load('ExportsPage', () => import('./pages/exports.tsx'))],
  [/^\/settings$/, load('SettingsPage', () => import('./pages/settings.tsx'))],
  [/^\/keys$/, load('KeysPage', () => import('./pages/keys.tsx'))],
  [/^\/organization$/, load('OrganizationPage', () => import('./pages/organization.tsx'))],
  [/^\/audit$/, load('AuditPage', () => import('./pages/audit.tsx'))],
  [/^\/system$/, load('SystemPage', () => import('./pages/system.tsx'))],
].map(([path, view]) => ({ path: path as RegExp, view: view as ViewLoader }));

export const navigation = [
  { path: '/overview', label: 'Overview' },
  { path: '/content', label: 'Content' },
  { path: '/live', label: 'Live' },
  { path: '/feed', label: 'Feed' },
  { path: '/experiments', label: 'Experiments' },
  { path: '/webhooks', label: 'Webhooks' },
  { path: '/exports', label: 'Exports' },
  { path: '/settings', label: 'Settings and flags' },
  { path: '/keys', label: 'Keys' },
  { path: '/organization', label: 'Organization' },
  { path: '/audit', label: 'Audit' },
  { path: '/system', label: 'System' },
];

export function findView(path: string): { view: ViewLoader; id: string } | null {
  for (const { path: pattern, view } of views) {
    const match = pattern.exec(path);
    if (match !== null) return { view, id: match[1] ?? '' };
  }
  return null;
}
