/** The console's icons: strokes on a grid of 24. */
import type { ReactNode } from 'react';

const strokes = {
  overview: 'M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z',
  reports: 'M4 4v16h16M8.5 16v-4M13 16V8M17.5 16v-6',
  journeys: 'M4 4h16l-6.5 8v7l-3 1.5v-8.5z',
  lastHour: 'M12 21a9 9 0 1 0-.01 0M12 7v5l3.5 2',
  alerts: 'M6 17v-6a6 6 0 0 1 12 0v6l2 1H4zM10 21h4',
  content: 'M4 5h16v14H4zM8 5v14M16 5v14M4 9.7h4M4 14.3h4M16 9.7h4M16 14.3h4',
  calendar: 'M4 6h16v14H4zM4 10.5h16M8 3v5M16 3v5M8 14.5h2M14 14.5h2',
  live: 'M12 10a2 2 0 1 0 .01 0M7.8 7.8a6 6 0 0 0 0 8.4M16.2 7.8a6 6 0 0 1 0 8.4M5 5a10 10 0 0 0 0 14M19 5a10 10 0 0 1 0 14',
  feed: 'M8 3h8a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2M10.5 9.2l4.4 2.8-4.4 2.8z',
  experiments: 'M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M7.6 15h8.8',
  metrics: 'M3 13h4l3-8 4 14 3-6h4',
  webhooks: 'M4 4h6v6H4zM14 14h6v6h-6zM7 10v7h7M17 14V7h-3.5',
  exports: 'M12 4v12M7 11l5 5 5-5M4 20h16',
  settings: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
  viewers:
    'M9 11a3.5 3.5 0 1 0-.01 0M2.5 20a6.5 6.5 0 0 1 13 0M16 4.3a3.5 3.5 0 0 1 0 6.6M18 14.3a6.5 6.5 0 0 1 3.5 5.7',
  keys: 'M8 16a4 4 0 1 0-.01 0M12 12h9v4M17 12v3',
  organization: 'M5 21V4h9v17M14 9h5v12M3 21h18M8 8h3M8 12h3M8 16h3',
  audit: 'M6 3h9l4 4v14H6zM9 8h4M9 12h7M9 16h7',
  purges: 'M4 7h16M9 7V4h6v3M6 7l1 14h10l1-14M10 11v6M14 11v6',
  system: 'M4 4h16v7H4zM4 13h16v7H4zM7.5 7.5h2M7.5 16.5h2',
  search: 'M11 18a7 7 0 1 0-.01 0M16 16l5 5',
  colors: 'M12 21a9 9 0 1 1 .01 0zM12 3v18a9 9 0 0 0 0-18',
  language: 'M12 21a9 9 0 1 0-.01 0M3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  help: 'M12 21a9 9 0 1 0-.01 0M9.5 9.5a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.7M12 16.8v.2',
  leave: 'M14 4h6v16h-6M10 8l-4 4 4 4M6 12h9',
  add: 'M12 5v14M5 12h14',
  back: 'M15 5l-7 7 7 7',
  forward: 'M9 5l7 7-7 7',
  person: 'M12 12a4 4 0 1 0-.01 0M4 21a8 8 0 0 1 16 0',
  save: 'M6 3h12v18l-6-4-6 4z',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 5.7 5.7L12 17',
  table: 'M4 5h16v14H4zM4 10h16M10 10v9',
  up: 'M12 19V6M6 11l6-6 6 6',
  down: 'M12 5v13M6 13l6 6 6-6',
} as const;

export type IconName = keyof typeof strokes;

/** A decorative icon, beside text or in a control that has a name. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }): ReactNode {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      style={{ flexShrink: 0 }}
    >
      <path d={strokes[name]} />
    </svg>
  );
}
