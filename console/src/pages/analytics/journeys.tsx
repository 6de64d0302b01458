/** Queries about sequences of events: funnels, paths, cohorts and series, stored in the address. */
import { Button, Group, SimpleGrid, Stack, Tabs, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { ComponentType, ReactNode } from 'react';
import { useRead } from '../../data.ts';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { SavedViews } from '../../saved-views.tsx';
import { t } from '../../texts/texts.ts';
import { CohortAnswer } from './journey-cohorts.tsx';
import { EventFields, useDeclared } from './journey-events.tsx';
import { FunnelAnswer } from './journey-funnel.tsx';
import { Options, SharedOptions } from './journey-options.tsx';
import { PathAnswer } from './journey-paths.tsx';
import {
  cohortsOf,
  funnelOf,
  pathsOf,
  questions,
  readEvents,
  seriesOf,
  writeEvents,
  type Chosen,
  type QuestionName,
} from './journey-question.ts';
import { SeriesAnswer } from './journey-series.tsx';
import { ReportFilters, useReportQuery } from './report-filters.tsx';

type Question<Body> = {
  label: string;
  about: string;
  path: string;
  bodyOf: (
    values: Readonly<Record<string, string>>,
    query: ReturnType<typeof useReportQuery>,
  ) => Body | null;
  Answer: ComponentType<{ body: Body }>;
};

/** Combines a query's request with the view of its answer. */
function question<Body>({ bodyOf, Answer, ...rest }: Question<Body>) {
  return {
    ...rest,
    ask: (...given: Parameters<typeof bodyOf>) => {
      const body = bodyOf(...given);
      return body === null ? null : { body, answer: <Answer body={body} /> };
    },
  };
}

const shown = {
  funnel: question({
    label: t('Funnel'),
    about: t('How many viewers get from each step to the next.'),
    path: '/v1/analytics/funnels',
    bodyOf: funnelOf,
    Answer: FunnelAnswer,
  }),
  paths: question({
    label: t('Paths'),
    about: t('What viewers do after an event, or what they did before it.'),
    path: '/v1/analytics/paths',
    bodyOf: pathsOf,
    Answer: PathAnswer,
  }),
  cohorts: question({
    label: t('Cohorts'),
    about: t('Viewers by how they began, and how many come back.'),
    path: '/v1/analytics/cohorts',
    bodyOf: cohortsOf,
    Answer: CohortAnswer,
  }),
  series: question({
    label: t('Series'),
    about: t('Events of a kind over time, and the numbers in them.'),
    path: '/v1/analytics/custom',
    bodyOf: seriesOf,
    Answer: SeriesAnswer,
  }),
} as const;

/** Debounces typing. */
const pauseMs = 400;

export function JourneysPage(): ReactNode {
  const [values, change] = useParameters();
  const [settled] = useDebouncedValue(values, pauseMs);
  const timeZone = useRead('/v1/organization', {}).data?.data.timeZone ?? 'UTC';
  const name = questions.find((each) => each === values['question']) ?? 'funnel';
  const hasGranularity = name === 'series';
  const query = useReportQuery(timeZone, { hasGranularity });
  const { path, about, ask } = shown[name];
  const asked = ask(settled['question'] === values['question'] ? settled : values, query);
  return (
    <Page
      title={t('Journeys')}
      actions={<SavedViews of="journeys" />}
      {...(asked !== null && { curl: { method: 'POST', path, body: asked.body } })}
    >
      <Tabs
        value={name}
        onChange={(value) =>
          change({ question: value, events: null, breakdown: null, granularity: null })
        }
        keepMounted={false}
      >
        <Tabs.List>
          {questions.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {shown[each].label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={name} pt="md">
          <Stack>
            <Text size="sm">{t('{about} Days are those of {timeZone}.', { about, timeZone })}</Text>
            <Builder name={name} />
            <ReportFilters query={query} hasGranularity={hasGranularity} more={['appVersion']}>
              <SharedOptions hasBreakdown={name !== 'series'} />
            </ReportFilters>
            {asked === null ? (
              <Text size="sm" role="status">
                {t('The answer appears here once each event, condition and choice is complete.')}
              </Text>
            ) : (
              asked.answer
            )}
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

const maxSteps = 8;

function Builder({ name }: { name: QuestionName }): ReactNode {
  const [values, change] = useParameters();
  const declared = useDeclared();
  const events = readEvents(values['events'], name);
  const write = (next: readonly Chosen[]) => change({ events: writeEvents(next) });
  const isFunnel = name === 'funnel';
  const labels = {
    funnel: events.map((_, index) => t('Step {number}', { number: index + 1 })),
    paths: [values['direction'] === 'before' ? t('Paths end at') : t('Paths begin at')],
    cohorts: [t('They begin with'), t('They come back with')],
    series: [t('Events')],
  }[name];
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm">
        {labels.map((label, index) => (
          <EventFields
            key={label}
            label={label}
            chosen={events[index] ?? { event: '', conditions: [] }}
            declared={declared}
            isAny={name === 'cohorts'}
            change={(chosen) => write(events.with(index, chosen))}
            remove={
              isFunnel && events.length > 2 ? () => write(events.toSpliced(index, 1)) : undefined
            }
          />
        ))}
      </SimpleGrid>
      <Group align="end">
        {isFunnel && (
          <Button
            variant="default"
            disabled={events.length >= maxSteps}
            onClick={() => write([...events, { event: '', conditions: [] }])}
          >
            {t('Add step')}
          </Button>
        )}
        <Options name={name} keys={declared.keysOf(events[0]?.event ?? '')} />
      </Group>
    </Stack>
  );
}
