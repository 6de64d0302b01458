/** What a view shows instead of its data: loading, failed, or nothing there yet. */
import { Alert, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export function Loading(): ReactNode {
  return (
    <Stack aria-busy="true" aria-label="Loading">
      <Skeleton height={28} width="40%" />
      <Skeleton height={120} />
      <Skeleton height={120} />
    </Stack>
  );
}

export function Failed({ error, retry }: { error: Error; retry?: () => void }): ReactNode {
  return (
    <Alert color="red" title="This did not work" role="alert">
      <Text size="sm">{error.message}</Text>
      {retry !== undefined && (
        <Button mt="sm" size="xs" variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}

/** An empty list, with what fills it. */
export function Empty({ children, command }: { children: ReactNode; command?: string }): ReactNode {
  return (
    <Stack align="center" py="xl" gap="xs">
      <Text>{children}</Text>
      {command !== undefined && <Code>{command}</Code>}
    </Stack>
  );
}

/** Copies a request as curl; the key stays a variable. */
export function CopyCurl({ method, path }: { method: string; path: string }): ReactNode {
  const copy = () => {
    const url = new URL(`../${path}`, window.location.href).href;
    void navigator.clipboard?.writeText(
      `curl -X ${method} "${url}" -H "Authorization: Bearer $KEY"`,
    );
  };
  return (
    <Group justify="flex-end">
      <Button size="compact-xs" variant="subtle" onClick={copy}>
        Copy as curl
      </Button>
    </Group>
  );
}
