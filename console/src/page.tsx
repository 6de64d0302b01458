/** The frame of a view: where it is, what it is, and the request behind it. */
import { Anchor, Button, Group, Stack, Title } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useEffect, type ReactNode } from 'react';
import { serviceAddress } from './api.ts';

type Curl = {
  path: string;
  method?: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: unknown;
};

export function Page({
  title,
  back,
  actions,
  curl,
  children,
}: {
  title: string;
  back?: { to: string; label: string };
  actions?: ReactNode;
  curl?: Curl;
  children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Reelfeed`;
  }, [title]);
  return (
    <Stack>
      {back !== undefined && (
        <Anchor href={`#${back.to}`} underline="always" w="fit-content">
          {`Back to ${back.label}`}
        </Anchor>
      )}
      <Group justify="space-between" mih={36}>
        {/* A letter with dozens of combining marks can't be broken, so it is clipped. */}
        <Title order={1} size="h2" miw={0} style={{ overflowWrap: 'anywhere', overflowX: 'clip' }}>
          {title}
        </Title>
        <Group gap="xs">
          {actions}
          {curl !== undefined && <CopyCurl {...curl} />}
        </Group>
      </Group>
      {children}
    </Stack>
  );
}

/** Copies a request as curl; the key stays a variable. */
export function CopyCurl(curl: Curl): ReactNode {
  return <Copy text={curlOf(curl)} label="Copy as curl" />;
}

export function curlOf({ method = 'GET', path, query = {}, body }: Curl): string {
  const url = new URL(serviceAddress(path));
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const parts = [
    `curl -X ${method} ${quoted(url.href)}`,
    '-H "Authorization: Bearer $SECRET_KEY"',
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}

export function Copy({ text, label }: { text: string; label: string }): ReactNode {
  const clipboard = useClipboard();
  return (
    <Button size="compact-sm" variant="default" onClick={() => clipboard.copy(text)}>
      {clipboard.copied ? 'Copied' : label}
    </Button>
  );
}
