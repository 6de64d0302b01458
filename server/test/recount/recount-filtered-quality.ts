/** Recounts the report on quality from the matching views. */
import { playback, within, type Part } from './recount-filtered-metrics.ts';
import { by, rate, total } from './recount-numbers.ts';
import { bucketsOf, comparedLength, spanOf, type Range } from './recount-time.ts';
import { messagesOf, type View } from './recount-views.ts';

function played(views: readonly View[], kind: 'rendition' | 'codec') {
  return [...Map.groupBy(views, (view) => view[kind])]
    .map(([label, own]) => {
      const startups = own.flatMap(({ startup }) => (startup === null ? [] : [startup]));
      return {
        label,
        plays: total(own.map(({ plays }) => plays)),
        averageStartupTime: rate(total(startups), startups.length),
        own,
      };
    })
    .filter(({ plays, own }) => plays > 0 || own.some(({ stalls }) => stalls > 0))
    .toSorted(by('plays', 'label'));
}

export function qualityReport(part: Part, range: Range) {
  const { from, to } = spanOf(range);
  const { views } = within(part, from, to);
  return {
    summary: playback(views),
    renditions: played(views, 'rendition').map(({ label, own, ...plays }) => ({
      rendition: label,
      ...plays,
      progressReports: null,
      rebuffers: total(own.map(({ stalls }) => stalls)),
      rebufferTime: total(own.map(({ stallMs }) => stallMs)) / 1_000,
      switchesTo: null,
    })),
    codecs: played(views, 'codec').map(({ label, plays, averageStartupTime }) => ({
      codec: label,
      plays,
      averageStartupTime,
    })),
    errors: errorsReport(part, range),
    timeseries: bucketsOf(range).map((one) => ({
      date: one.date,
      ...playback(within(part, one.from, one.to).views),
    })),
  };
}

export function errorsReport(part: Part, range: Range) {
  const { from, to } = spanOf(range);
  const length = comparedLength(range);
  const start = from - (to - from);
  const failed = within(part, from, to).views.filter(({ errors }) => errors > 0);
  const before = within(part, start, start + length).views.filter(({ errors }) => errors > 0);
  return [...Map.groupBy(failed, ({ errorCode }) => errorCode)]
    .map(([code, own]) => {
      const previous = before.filter(({ errorCode }) => errorCode === code).length;
      return {
        code,
        count: own.length,
        previous,
        change: previous === 0 ? null : (own.length - previous) / previous,
        messages: messagesOf(own),
      };
    })
    .toSorted(by('count', 'code'));
}
