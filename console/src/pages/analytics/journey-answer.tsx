/** Requests and shows an answer about journeys: loading, failed, empty, or data. */
import { Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { moment } from '../../format.ts';
import { Empty, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Reply<Data> = { data: Data; meta: { asOf?: string } };

export function JourneyAnswer<Body, Data>({
  path,
  body,
  ask,
  isEmpty,
  children,
}: {
  path: string;
  body: Body;
  ask: (body: Body, signal: AbortSignal) => Promise<Reply<Data>>;
  isEmpty: (data: Data) => boolean;
  children: (data: Data) => ReactNode;
}): ReactNode {
  const answer = useQuery({
    queryKey: [path, body],
    queryFn: ({ signal }) => ask(body, signal),
    placeholderData: keepPreviousData,
    // A query may read millions of events, so it is not repeated when a window gains focus.
    refetchOnWindowFocus: false,
  });
  return (
    <div aria-busy={answer.isFetching} style={{ opacity: answer.isPlaceholderData ? 0.5 : 1 }}>
      <Show of={answer}>
        {({ data, meta }) =>
          isEmpty(data) ? (
            <Empty>
              {t('No such event in this range. Choose other events, fewer filters or more days.')}
            </Empty>
          ) : (
            <>
              {children(data)}
              <Text size="sm" mt="md">
                {t('Events up to {moment}.', { moment: moment(meta.asOf) })}
              </Text>
            </>
          )
        }
      </Show>
    </div>
  );
}

export const valueName = (value: string | null): string => value ?? t('unknown');

/** Number of breakdown values, cohorts or paths that are not shown. */
export function Others({ count }: { count: number }): ReactNode {
  return count === 0 ? null : (
    <Text size="sm">
      {t('{count} more value is not shown.|{count} more values are not shown.', { count })}
    </Text>
  );
}
