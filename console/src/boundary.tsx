/** Keeps an error of a page, or of a part, inside of it: what is around stays, and can be used. */
import { Alert, Button, Text } from '@mantine/core';
import { Component, useState, type ReactNode } from 'react';
import { lookForUpgrade } from './upgrade.ts';

/** The code of a page, or of a part of one, could not be loaded. */
export class NotLoadedError extends Error {}

type Props = {
  children: ReactNode;
  /** A whole page, beside which there is nothing that somebody may have typed into. */
  isPage: boolean;
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
    return (
      <Problem
        error={error}
        isPage={this.props.isPage}
        isRepeated={retries > 0}
        retry={() => this.#retry()}
      />
    );
  }

  #retry(): void {
    this.props.onRetry?.();
    this.setState(({ retries }) => ({ error: null, retries: retries + 1 }));
  }
}

const question = 'This needs a reload, which loses what you have not saved. Reload?';

function Problem({
  error,
  isPage,
  isRepeated,
  retry,
}: {
  error: Error;
  isPage: boolean;
  isRepeated: boolean;
  retry: () => void;
}): ReactNode {
  const [isLooking, setLooking] = useState(false);
  const isNotLoaded = error instanceof NotLoadedError;
  const tryAgain = async () => {
    setLooking(true);
    const seen = isNotLoaded ? await lookForUpgrade() : 'same';
    // Some browsers never ask again for a file that they once could not load, until a reload.
    const needsReload = seen === 'other' || (seen === 'same' && isNotLoaded && isRepeated);
    if (needsReload && (isPage || window.confirm(question))) window.location.reload();
    else retry();
  };
  return (
    <Alert
      role="alert"
      color={isNotLoaded ? 'yellow' : 'red'}
      title={`This ${isPage ? 'page' : 'part'} ${isNotLoaded ? 'could not be loaded' : 'has failed'}`}
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
