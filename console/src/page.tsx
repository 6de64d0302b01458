/** The frame of a view: its location, title, and the underlying request. */
import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useEffect, type ReactNode } from 'react';
import { serviceAddress } from './api.ts';
import { lastAddress } from './location.ts';
import { Icon } from './shell/icons.tsx';
import { t } from './texts/texts.ts';

type Curl = {
  path: string;
  method?: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: unknown;
};

export function Page({
  title,
  about,
  back,
  actions,
  curl,
  children,
}: {
  title: string;
  /** The purpose of the page in one sentence. */
  about?: string;
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
      <header>
        {back !== undefined && (
          <Anchor href={lastAddress(back.to)} className="page-back">
            <Icon name="back" size={14} />
            {t('Back to {page}', { page: back.label })}
          </Anchor>
        )}
        <Group justify="space-between" mih={36} gap="xs">
          {/* A letter with dozens of combining marks can't wrap, so it is clipped. */}
          <Title
            order={1}
            size={22}
            miw={0}
            style={{ overflowWrap: 'anywhere', overflowX: 'clip' }}
          >
            {title}
          </Title>
          <Group gap="xs">
            {actions}
            {curl !== undefined && <CopyCurl {...curl} />}
          </Group>
        </Group>
        {about !== undefined && (
          <Text size="sm" c="dimmed" maw={760}>
            {about}
          </Text>
        )}
      </header>
      {children}
    </Stack>
  );
}

/** Copies a request as a curl command with a variable for the key. */
export function CopyCurl(curl: Curl): ReactNode {
  return (
    <Copy text={curlOf(curl)} label={t('Copy as curl')} icon={<Icon name="code" size={16} />} />
  );
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

export function Copy({
  text,
  label,
  icon = null,
}: {
  text: string;
  label: string;
  icon?: ReactNode;
}): ReactNode {
  const clipboard = useClipboard();
  return (
    <Button
      size="compact-sm"
      h={30}
      variant="default"
      leftSection={icon}
      onClick={() => clipboard.copy(text)}
    >
      {clipboard.copied ? t('Copied') : label}
    </Button>
  );
}
