/** The path answer: the most frequent paths, where each step leads, and the breakdown. */
import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { whole, words } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { JourneyAnswer, Others, valueName } from './journey-answer.tsx';
import type { PathBody, Paths } from './journey-question.ts';
import { Cells, Figures, share } from './report-parts.tsx';

type Node = Paths['paths'][number]['events'][number];
type Counts = Pick<Paths, 'sessions' | 'viewers' | 'steps' | 'paths' | 'otherPaths'>;

const nodeName = ({ event, contentId }: Node): string =>
  contentId === null ? event : `${event} (${contentId.slice(0, 8)})`;
const pathName = (events: readonly Node[], isBack: boolean): string =>
  (isBack ? events.toReversed() : events).map(nodeName).join(' › ');

export function PathAnswer({ body }: { body: PathBody }): ReactNode {
  const isBack = body.direction === 'before';
  return (
    <JourneyAnswer<PathBody, Paths>
      path="/v1/analytics/paths"
      body={body}
      ask={(asked, signal) => api.post('/v1/analytics/paths', { body: asked, signal })}
      isEmpty={({ sessions }) => sessions === 0}
    >
      {({ breakdown, otherValues, ...all }) => (
        <Stack>
          <Figures
            of={[
              [t('Sessions'), whole(all.sessions)],
              [t('Viewers'), whole(all.viewers)],
            ]}
          />
          <PathTable counts={all} isBack={isBack} />
          <Transitions counts={all} isBack={isBack} />
          {breakdown !== null && (
            <>
              <Cells
                title={t('By {dimension}', { dimension: words(body.breakdown ?? '') })}
                head={[t('Value'), t('Sessions'), t('Viewers'), t('Most frequent path')]}
                rows={breakdown.map(({ value, sessions, viewers, paths: [most] }) => ({
                  key: JSON.stringify(value),
                  cells: [
                    valueName(value),
                    whole(sessions),
                    whole(viewers),
                    most === undefined
                      ? '–'
                      : `${pathName(most.events, isBack)} · ${share(most.sessions / sessions)}`,
                  ],
                }))}
              />
              <Others count={otherValues} />
            </>
          )}
        </Stack>
      )}
    </JourneyAnswer>
  );
}

type Shown = { counts: Counts; isBack: boolean };

function PathTable({ counts: { paths, sessions, otherPaths }, isBack }: Shown): ReactNode {
  return (
    <div>
      <Cells
        title={t('Paths')}
        minWidth={560}
        head={[t('Path'), t('Sessions'), t('Share')]}
        rows={paths.map((path) => ({
          key: JSON.stringify(path.events),
          cells: [
            <div key="path" className="bar-row">
              <i style={{ width: `${(100 * path.sessions) / sessions}%` }} />
              <span style={{ whiteSpace: 'normal' }}>{pathName(path.events, isBack)}</span>
            </div>,
            whole(path.sessions),
            share(path.sessions / sessions),
          ],
        }))}
      />
      {otherPaths > 0 && (
        <Text size="sm">
          {t('{count} session took another path.|{count} sessions took other paths.', {
            count: otherPaths,
          })}
        </Text>
      )}
    </div>
  );
}

function Transitions({ counts: { steps }, isBack }: Shown): ReactNode {
  return (
    <Cells
      title={t('Step by step')}
      minWidth={560}
      head={[
        t('Step'),
        isBack ? t('Before') : t('From'),
        isBack ? t('Event') : t('To'),
        t('Sessions'),
      ]}
      rows={steps.flatMap(({ step, transitions, other, ended }) => [
        ...transitions.map(({ from, to, sessions }) => ({
          key: JSON.stringify([step, from, to]),
          cells: [
            String(step),
            nodeName(isBack ? to : from),
            nodeName(isBack ? from : to),
            whole(sessions),
          ],
        })),
        ...(other === 0
          ? []
          : [
              {
                key: `${step} other`,
                cells: [String(step), t('all others'), '', whole(other)],
              },
            ]),
        ...(ended === 0
          ? []
          : [
              {
                key: `${step} ended`,
                cells: [String(step), t('nothing more'), '', whole(ended)],
              },
            ]),
      ])}
    />
  );
}
