/** Keeps an error of one page inside of that page: its frame stays, and the person can try again. */
import { Alert, Button, Text } from '@mantine/core';
import { Component, useState, type ReactNode } from 'react';
import { lookForUpgrade } from './upgrade.ts';

/** The code of a page could not be loaded. */
export class PageNotLoadedError extends Error {}

type Props = {
  children: ReactNode;
  /** Called before the children are rendered again. */
  onRetry?: () => void;
};

export class Boundary extends Component<Props, { error: Error | null; retries: number }> {
  override state = { error: null, retries: 0 };

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error, retries } = this.state;
    if (error === null) return this.props.children;
    return <PageFailed error={error} isRepeated={retries > 0} retry={() => this.#retry()} />;
  }

  #retry(): void {
    this.props.onRetry?.();
    this.setState(({ retries }) => ({ error: null, retries: retries + 1 }));
  }
}

function PageFailed({
  error,
  isRepeated,
  retry,
}: {
  error: Error;
  isRepeated: boolean;
  retry: () => void;
}): ReactNode {
  const [isLooking, setLooking] = useState(false);
  const isNotLoaded = error instanceof PageNotLoadedError;
  const tryAgain = async () => {
    setLooking(true);
    const seen = isNotLoaded ? await lookForUpgrade() : 'same';
    // Some browsers never ask again for a file that they once could not load, until a reload.
    if (seen === 'other' || (seen === 'same' && isNotLoaded && isRepeated))
      window.location.reload();
    else retry();
  };
  return (
    <Alert
      role="alert"
      color={isNotLoaded ? 'yellow' : 'red'}
      title={isNotLoaded ? 'This page could not be loaded' : 'This page has failed'}
    >
      <Text size="sm">
        {isNotLoaded
          ? 'The service cannot be reached, or it was upgraded since you opened the console.'
          : error.message}
      </Text>
      <Button
        mt="sm"
        size="xs"
        variant="default"
        loading={isLooking}
        onClick={() => void tryAgain()}
      >
        Try again
      </Button>
    </Alert>
  );
}
