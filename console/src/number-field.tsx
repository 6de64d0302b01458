/** A field for a required number that never modifies text while it is typed. */
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState, type ReactNode } from 'react';

type Parts = Omit<NumberInputProps, 'value' | 'onChange' | 'onBlur' | 'defaultValue'> & {
  value: number;
  onChange: (value: number) => void;
};

/** While the field is empty, the value stays unchanged; it reappears when the field loses focus. */
export function NumberField({ value, onChange, ...rest }: Parts): ReactNode {
  // The typed text: `0.` on the way to `0.5` is already a number and would lose its point.
  const [typed, setTyped] = useState<number | string | null>(null);
  return (
    <NumberInput
      {...rest}
      value={typed ?? value}
      onChange={(next) => {
        setTyped(next);
        if (next !== '' && Number.isFinite(Number(next))) onChange(Number(next));
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
