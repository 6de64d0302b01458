/** Sign-in: with a secret key, or by a one-time link that the service has printed. */
import { Button, Code, Container, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { changeSession } from './api.ts';
import { useLocation } from './location.ts';

/** A link is taken once per page: React runs effects twice where it looks for mistakes. */
let takenLink: string | null = null;

export function SignIn(): ReactNode {
  const [secretKey, setSecretKey] = useState('');
  const [error, setError] = useState<string | null>(null);
  const client = useQueryClient();
  const { path } = useLocation();
  const link = /^\/sign-in\/([\w-]+)$/.exec(path)?.[1] ?? null;

  const signIn = async (body: { secretKey: string } | { link: string }) => {
    try {
      await changeSession('POST', body);
      if ('link' in body) window.location.replace('#/overview');
      await client.invalidateQueries();
    } catch (failure) {
      setError((failure as Error).message);
    }
  };
  useEffect(() => {
    if (link === null || link === takenLink) return;
    takenLink = link;
    void signIn({ link });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each link
  }, [link]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void signIn({ secretKey: secretKey.trim() });
  };
  return (
    <Container size={420} py={80} component="main">
      <Paper withBorder p="lg">
        <form onSubmit={submit}>
          <Stack>
            <Title order={1} size="h3">
              Sign in to Reelfeed
            </Title>
            <Text size="sm" component="div">
              With a secret key, which the first start printed. This makes another one:
              <Code block mt={4}>
                npx reelfeed keys create --type secret --name console
              </Code>
            </Text>
            <PasswordInput
              label="Secret key"
              placeholder="rf_sk_…"
              autoComplete="current-password"
              required
              value={secretKey}
              error={error}
              onChange={(event) => setSecretKey(event.currentTarget.value)}
            />
            <Button type="submit">Sign in</Button>
          </Stack>
        </form>
      </Paper>
    </Container>
  );
}
