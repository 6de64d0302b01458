/** Placeholders for a view's data: loading, failed, or empty. */
import { ReelfeedError } from '@reelfeed/client/session';
import { Alert, Button, Code, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Rows } from './data.ts';
import { useSession } from './session.ts';
import { t } from './texts/texts.ts';

export function Loading(): ReactNode {
  return (
    <Stack aria-busy="true" aria-label={t('Loading')} role="status" mih={320}>
      <Skeleton height={28} width="40%" />
      <Skeleton height={120} />
      <Skeleton height={120} />
    </Stack>
  );
}

/** Shows the data or the error. If a refetch fails, the last data is shown. */
export function Show<Data>({
  of,
  children,
}: {
  of: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}): ReactNode {
  const retry = () => void of.refetch();
  return (
    <>
      {of.error !== null && <Failed error={of.error} retry={retry} />}
      {of.data !== undefined && children(of.data)}
      {of.isPending && <Loading />}
    </>
  );
}

export function Failed({ error, retry }: { error: Error | null; retry?: () => void }): ReactNode {
  const { isOver } = useSession();
  if (error === null) return null;
  if (error instanceof ReelfeedError && error.status === 401) {
    return (
      <Alert color="yellow" title={t('You were signed out')} role="alert">
        <Text size="sm">
          {isOver
            ? t('Sign in to continue.')
            : t('You are signed in again. Your last action was not carried out: please repeat it.')}
        </Text>
        {retry !== undefined && !isOver && (
          <Button mt="sm" size="xs" variant="default" onClick={retry}>
            {t('Try again')}
          </Button>
        )}
      </Alert>
    );
  }
  const { code, requestId, details } =
    error instanceof ReelfeedError ? error : { code: null, requestId: null, details: [] };
  const isOffline = code === 'NETWORK_ERROR' || code === 'TIMEOUT';
  return (
    <Alert
      color={isOffline ? 'yellow' : 'red'}
      title={isOffline ? t('No connection to the service') : t('This did not work')}
      role="alert"
    >
      <Text size="sm">
        {isOffline ? t('{message} Is it running?', { message: error.message }) : error.message}
      </Text>
      {details.length > 1 && (
        <List size="sm">
          {details.map(({ path, message }) => (
            <List.Item key={`${path} ${message}`}>{`${path}: ${message}`}</List.Item>
          ))}
        </List>
      )}
      {requestId !== null && (
        <Text size="xs" mt={4}>
          {t('{code}, request {requestId}', { code, requestId })}
        </Text>
      )}
      {retry !== undefined && (
        <Button mt="sm" size="xs" variant="default" onClick={retry}>
          {t('Try again')}
        </Button>
      )}
    </Alert>
  );
}

/** Loads the rest of a list. */
export function More({ of }: { of: Rows<unknown> }): ReactNode {
  if (!of.hasNextPage) return null;
  return (
    <Group>
      <Button
        variant="default"
        loading={of.isFetchingNextPage}
        onClick={() => void of.fetchNextPage()}
      >
        {t('Show more')}
      </Button>
      <Text size="sm" role="status">
        {t('{count} shown', { count: of.data?.length ?? 0 })}
      </Text>
    </Group>
  );
}

/** An empty list, with a hint on how to fill it. */
export function Empty({ children, command }: { children: ReactNode; command?: string }): ReactNode {
  return (
    <Stack align="center" py="xl" gap="xs" ta="center">
      <Text component="div">{children}</Text>
      {command !== undefined && (
        <Code block maw="100%">
          {command}
        </Code>
      )}
    </Stack>
  );
}
