/** The funnel answer: a bar for each step, the underlying table, and the breakdown. */
import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { Card } from '../../card.tsx';
import { whole, words } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { JourneyAnswer, Others, valueName } from './journey-answer.tsx';
import type { Funnel, FunnelBody } from './journey-question.ts';
import { Cells, count, share, time } from './report-parts.tsx';
import './journeys.css';

type Step = Funnel['steps'][number];

/** The funnel's count: sessions, or viewers if steps may be hours apart. */
const reachedBy = ({ sessions, viewers }: Step): number => sessions ?? viewers;

export function FunnelAnswer({ body }: { body: FunnelBody }): ReactNode {
  return (
    <JourneyAnswer<FunnelBody, Funnel>
      path="/v1/analytics/funnels"
      body={body}
      ask={(asked, signal) => api.post('/v1/analytics/funnels', { body: asked, signal })}
      isEmpty={({ steps }) => steps.every(({ viewers }) => viewers === 0)}
    >
      {({ steps, breakdown, otherValues }) => (
        <Stack>
          <Card
            title={
              body.windowHours === undefined
                ? t('Sessions that reach each step')
                : t('Viewers who reach each step')
            }
          >
            <Bars steps={steps} />
          </Card>
          <StepTable steps={steps} />
          {breakdown !== null && (
            <>
              <Cells
                title={t('By {dimension}', { dimension: words(body.breakdown ?? '') })}
                head={[t('Value'), ...steps.map(stepName)]}
                rows={breakdown.map(({ value, steps: own }) => ({
                  key: JSON.stringify(value),
                  cells: [
                    valueName(value),
                    ...own.map((step, index) =>
                      index === 0
                        ? whole(reachedBy(step))
                        : `${whole(reachedBy(step))} · ${share(step.fromFirst)}`,
                    ),
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

const stepName = ({ event }: Step, index: number): string => `${index + 1}. ${event}`;

function Bars({ steps }: { steps: readonly Step[] }): ReactNode {
  return (
    <ol className="funnel">
      {steps.map((step, index) => (
        <li key={stepName(step, index)}>
          <span className="funnel-name">{stepName(step, index)}</span>
          <span className="funnel-track">
            <i style={{ width: `${100 * (step.fromFirst ?? 0)}%` }} />
          </span>
          <span className="funnel-count">
            <b>{whole(reachedBy(step))}</b>{' '}
            {index === 0
              ? null
              : t('{share} of the previous step', { share: share(step.fromPrevious) })}
          </span>
        </li>
      ))}
    </ol>
  );
}

function StepTable({ steps }: { steps: readonly Step[] }): ReactNode {
  return (
    <Cells
      title={t('Steps')}
      minWidth={720}
      head={[
        t('Event'),
        t('Viewers'),
        t('Sessions'),
        t('Of the previous step'),
        t('Of the first step'),
        t('Lost'),
        t('Median time'),
      ]}
      rows={steps.map((step, index) => ({
        key: stepName(step, index),
        cells: [
          stepName(step, index),
          whole(step.viewers),
          count(step.sessions),
          share(step.fromPrevious),
          share(step.fromFirst),
          whole(step.dropOff),
          time(step.medianSeconds),
        ],
      }))}
    />
  );
}
