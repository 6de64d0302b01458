/** When items enter and leave the feed, by month. */
import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import type { Answer, Item } from '../../data.ts';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { Icon } from '../../shell/icons.tsx';
import { Empty, Show } from '../../states.tsx';
import { language, t } from '../../texts/texts.ts';
import './calendar.css';
import { daysOf, entriesOf, monthOf, shiftMonth, type Entry } from './schedule.ts';

const maxPages = 20;

/** The API has no filter for schedules, so the newest items are read and filtered here. */
async function readScheduled({ signal }: { signal: AbortSignal }) {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const query = { limit: 100, ...from };
    const { data, meta }: Answer<'get', '/v1/content'> = await api.get('/v1/content', {
      query,
      signal,
    });
    items.push(
      ...data.filter(({ publishAt, expiresAt }) => publishAt !== null || expiresAt !== null),
    );
    cursor = meta.nextCursor ?? null;
    if (cursor === null) break;
  }
  return { items, isComplete: cursor === null };
}

const title = new Intl.DateTimeFormat(language, {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
const weekday = new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' });
const time = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' });
const wholeDay = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeZone: 'UTC' });

export function CalendarPage(): ReactNode {
  const [values, change] = useParameters();
  const month = monthOf(values['month']);
  const scheduled = useQuery({
    queryKey: ['scheduled'],
    queryFn: readScheduled,
    staleTime: 30_000,
  });
  const name = title.format(new Date(`${month}-01T00:00:00Z`));
  const step = (months: number) => change({ month: shiftMonth(month, months) });
  return (
    <Page
      title={t('Calendar')}
      about={t('When items enter the feed and leave it, in the time zone of this browser.')}
      actions={
        <Group gap="xs">
          <ActionIcon
            variant="default"
            size={30}
            aria-label={t('Previous month')}
            onClick={() => step(-1)}
          >
            <Icon name="back" />
          </ActionIcon>
          <Text fw={600} miw={130} ta="center" role="status">
            {name}
          </Text>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={t('Next month')}
            onClick={() => step(1)}
          >
            <Icon name="forward" />
          </ActionIcon>
          <Button
            size="compact-sm"
            h={30}
            variant="default"
            onClick={() => change({ month: null })}
          >
            {t('This month')}
          </Button>
        </Group>
      }
    >
      <Show of={scheduled}>
        {({ items, isComplete }) => (
          <Stack gap="xs">
            {items.length === 0 && (
              <Empty>
                {t(
                  'No item has a schedule yet. Set “In the feed from” or “In the feed until” on the page of an item.',
                )}
              </Empty>
            )}
            <Month month={month} entries={entriesOf(items)} name={name} />
            {!isComplete && (
              <Text size="sm">
                {t('Only the newest {count} items are included.', { count: maxPages * 100 })}
              </Text>
            )}
          </Stack>
        )}
      </Show>
    </Page>
  );
}

function Month({
  month,
  entries,
  name,
}: {
  month: string;
  entries: ReadonlyMap<string, readonly Entry[]>;
  name: string;
}): ReactNode {
  const days = daysOf(month);
  return (
    <ol className="calendar" aria-label={name}>
      {days.slice(0, 7).map((day) => (
        <li key={`head ${day}`} className="calendar-head" aria-hidden="true">
          {weekday.format(new Date(`${day}T00:00:00Z`))}
        </li>
      ))}
      {days.map((day) => (
        <Day
          key={day}
          day={day}
          isOther={!day.startsWith(month)}
          entries={entries.get(day) ?? []}
        />
      ))}
    </ol>
  );
}

function Day({
  day,
  isOther,
  entries,
}: {
  day: string;
  isOther: boolean;
  entries: readonly Entry[];
}): ReactNode {
  return (
    <li
      className="calendar-day"
      data-other={isOther || undefined}
      data-empty={entries.length === 0 || undefined}
      aria-label={wholeDay.format(new Date(`${day}T00:00:00Z`))}
    >
      <span className="calendar-number" aria-hidden="true">
        {Number(day.slice(8))}
      </span>
      {entries.map(({ item, at, isStart }) => (
        <a
          key={`${item.id} ${String(isStart)}`}
          href={`#/content/${item.id}`}
          className="calendar-entry mantine-focus-auto"
          data-start={isStart || undefined}
          title={item.title}
        >
          <small>{`${time.format(at)} ${isStart ? t('enters') : t('leaves')}`}</small>
          {item.title}
        </a>
      ))}
    </li>
  );
}
