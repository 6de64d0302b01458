/** The sign-in page, or the frame with the view for the current address. */
import { Text } from '@mantine/core';
import { ReelfeedError } from '@reelfeed/client/session';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { useRead } from './data.ts';
import { useLocation } from './location.ts';
import { findLink } from './pages/people/links.tsx';
import { ShowPart } from './part.tsx';
import { useSession } from './session.ts';
import { Frame } from './shell/shell.tsx';
import { SignIn, SignInDialog } from './sign-in.tsx';
import { Failed, Loading } from './states.tsx';
import { t } from './texts/texts.ts';
import { findView } from './views.ts';

export function App(): ReactNode {
  const { path } = useLocation();
  const link = findLink(path);
  return link ?? <SignedInApp />;
}

function SignedInApp(): ReactNode {
  const organization = useRead('/v1/organization', {});
  const { isOver, generation } = useSession();
  const { path } = useLocation();
  const client = useQueryClient();
  const id = organization.data?.data.id;
  const [firstId, setFirstId] = useState(id);
  if (firstId === undefined && id !== undefined) setFirstId(id);
  const isOther = firstId !== undefined && id !== undefined && id !== firstId;
  useEffect(() => {
    if (generation > 0) void client.invalidateQueries();
  }, [client, generation]);
  useEffect(() => {
    // Nothing of the previous organization may remain, neither on the page nor in memory.
    if (isOther) window.location.reload();
  }, [isOther]);
  if (organization.isPending || isOther) return <Loading />;
  if (organization.data === undefined) {
    const { error, refetch } = organization;
    const isSignedOut = error instanceof ReelfeedError && error.status === 401;
    if (isSignedOut) return <SignIn />;
    return (
      <main>
        <Failed error={error} retry={() => void refetch()} />
      </main>
    );
  }
  return (
    <>
      <Frame name={organization.data.data.name}>
        <View key={path} path={path} />
      </Frame>
      {isOver && <SignInDialog organizationId={organization.data.data.id} />}
    </>
  );
}

function View({ path }: { path: string }): ReactNode {
  const client = useQueryClient();
  const found = findView(path);
  if (found === null) return <Text>{t('There is no such page.')}</Text>;
  const { view, id } = found;
  // The page may have failed because of the cached data.
  const forget = () =>
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== '/v1/organization' });
  return <ShowPart part={view} props={{ id }} onRetry={forget} />;
}
