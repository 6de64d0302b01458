/** Maps addresses to views. Each view is a separate file, loaded when it is first opened. */
import type { ComponentType } from 'react';
import { makePart, type Part } from './part.tsx';
import type { IconName } from './shell/icons.tsx';
import { t } from './texts/texts.ts';

type View = Part<{ id: string }>;

const load = (name: string, from: () => Promise<Record<string, unknown>>): View =>
  makePart(async () => (await from())[name] as ComponentType<{ id: string }>, { isPage: true });

const views: readonly { path: RegExp; view: View }[] = [
  [/^\/overview$/, load('OverviewPage', () => import('./pages/analytics/overview.tsx'))],
  [/^\/reports$/, load('ReportsPage', () => import('./pages/analytics/reports.tsx'))],
  [
    /^\/saved-reports$/,
    load('SavedReportsPage', () => import('./pages/analytics/saved-reports.tsx')),
  ],
  [/^\/journeys$/, load('JourneysPage', () => import('./pages/analytics/journeys.tsx'))],
  [/^\/last-hour$/, load('LastHourPage', () => import('./pages/analytics/last-hour.tsx'))],
  [/^\/alerts$/, load('AlertsPage', () => import('./pages/analytics/alerts.tsx'))],
  [/^\/content$/, load('LibraryPage', () => import('./pages/content/library.tsx'))],
  [/^\/content\/jobs$/, load('JobsPage', () => import('./pages/content/jobs.tsx'))],
  [/^\/content\/jobs\/([^/]+)$/, load('JobPage', () => import('./pages/content/job.tsx'))],
  [/^\/content\/import$/, load('ImportPage', () => import('./pages/content/import.tsx'))],
  [/^\/content\/calendar$/, load('CalendarPage', () => import('./pages/content/calendar.tsx'))],
  [/^\/content\/([^/]+)$/, load('ItemPage', () => import('./pages/content/item.tsx'))],
  [/^\/live$/, load('LivePage', () => import('./pages/live/live.tsx'))],
  [/^\/live\/([^/]+)$/, load('LiveStreamPage', () => import('./pages/live/live-stream.tsx'))],
  [/^\/feed$/, load('FeedPage', () => import('./pages/feed/feed.tsx'))],
  [/^\/experiments$/, load('ExperimentsPage', () => import('./pages/experiments/experiments.tsx'))],
  [
    /^\/experiments\/new$/,
    load('NewExperimentPage', () => import('./pages/experiments/experiment-form.tsx')),
  ],
  [
    /^\/experiments\/([^/]+)\/edit$/,
    load('EditExperimentPage', () => import('./pages/experiments/experiment-edit.tsx')),
  ],
  [
    /^\/experiments\/([^/]+)$/,
    load('ExperimentPage', () => import('./pages/experiments/experiment.tsx')),
  ],
  [/^\/metrics$/, load('MetricsPage', () => import('./pages/experiments/metrics.tsx'))],
  [/^\/webhooks$/, load('WebhooksPage', () => import('./pages/webhooks/webhooks.tsx'))],
  [/^\/webhooks\/([^/]+)$/, load('WebhookPage', () => import('./pages/webhooks/webhook.tsx'))],
  [/^\/exports$/, load('ExportsPage', () => import('./pages/exports/exports.tsx'))],
  [/^\/settings$/, load('SettingsPage', () => import('./pages/administration/settings.tsx'))],
  [/^\/keys$/, load('KeysPage', () => import('./pages/administration/keys.tsx'))],
  [/^\/keys\/([^/]+)$/, load('KeyPage', () => import('./pages/administration/key.tsx'))],
  [/^\/viewers$/, load('ViewersPage', () => import('./pages/administration/viewers.tsx'))],
  [/^\/purges$/, load('PurgesPage', () => import('./pages/administration/purges.tsx'))],
  [
    /^\/organization$/,
    load('OrganizationPage', () => import('./pages/administration/organization.tsx')),
  ],
  [/^\/people$/, load('PeoplePage', () => import('./pages/people/people.tsx'))],
  [/^\/account$/, load('AccountPage', () => import('./pages/people/account.tsx'))],
  [/^\/audit$/, load('AuditPage', () => import('./pages/administration/audit.tsx'))],
  [/^\/system$/, load('SystemPage', () => import('./pages/administration/system.tsx'))],
].map(([path, view]) => ({ path: path as RegExp, view: view as View }));

type NavigationEntry = {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** Pressed after `g`, this letter opens the page. */
  readonly shortcut?: { readonly letter: string; readonly does: string };
};

/** The navigation, grouped by task. */
export const groups: readonly {
  label: string;
  views: readonly NavigationEntry[];
}[] = [
  {
    label: t('Insights'),
    views: [
      {
        path: '/overview',
        label: t('Overview'),
        icon: 'overview',
        shortcut: { letter: 'o', does: t('Go to the overview') },
      },
      { path: '/last-hour', label: t('Last hour'), icon: 'lastHour' },
      {
        path: '/reports',
        label: t('Reports'),
        icon: 'reports',
        shortcut: { letter: 'r', does: t('Go to the reports') },
      },
      { path: '/journeys', label: t('Journeys'), icon: 'journeys' },
      { path: '/saved-reports', label: t('Saved reports'), icon: 'save' },
      { path: '/alerts', label: t('Alerts'), icon: 'alerts' },
    ],
  },
  {
    label: t('Library'),
    views: [
      {
        path: '/content',
        label: t('Content'),
        icon: 'content',
        shortcut: { letter: 'c', does: t('Go to the content') },
      },
      {
        path: '/content/calendar',
        label: t('Calendar'),
        icon: 'calendar',
        shortcut: { letter: 'd', does: t('Go to the calendar') },
      },
      {
        path: '/live',
        label: t('Live'),
        icon: 'live',
        shortcut: { letter: 'l', does: t('Go to the live streams') },
      },
      {
        path: '/feed',
        label: t('Feed'),
        icon: 'feed',
        shortcut: { letter: 'f', does: t('Go to the feed') },
      },
    ],
  },
  {
    label: t('Experimentation'),
    views: [
      {
        path: '/experiments',
        label: t('Experiments'),
        icon: 'experiments',
        shortcut: { letter: 'e', does: t('Go to the experiments') },
      },
      { path: '/metrics', label: t('Metrics'), icon: 'metrics' },
    ],
  },
  {
    label: t('Developers'),
    views: [
      {
        path: '/webhooks',
        label: t('Webhooks'),
        icon: 'webhooks',
        shortcut: { letter: 'w', does: t('Go to the webhooks') },
      },
      { path: '/exports', label: t('Exports'), icon: 'exports' },
      {
        path: '/settings',
        label: t('Settings and flags'),
        icon: 'settings',
        shortcut: { letter: 's', does: t('Go to the settings') },
      },
      { path: '/keys', label: t('Keys'), icon: 'keys' },
    ],
  },
  {
    label: t('Administration'),
    views: [
      { path: '/viewers', label: t('Viewers'), icon: 'viewers' },
      { path: '/people', label: t('People'), icon: 'person' },
      { path: '/organization', label: t('Organization'), icon: 'organization' },
      { path: '/audit', label: t('Audit'), icon: 'audit' },
      { path: '/purges', label: t('Purges'), icon: 'purges' },
      { path: '/system', label: t('System'), icon: 'system' },
    ],
  },
];

export const navigation = groups.flatMap(({ views: some }) => some);

export function findView(path: string): { view: View; id: string } | null {
  for (const { path: pattern, view } of views) {
    const match = pattern.exec(path);
    if (match !== null) return { view, id: match[1] ?? '' };
  }
  return null;
}
