/** @jsxImportSource react */
import type { ReactNode } from 'react';
import {
  Button as AriaButton,
  type ButtonProps,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select,
  SelectValue,
  TextField,
} from 'react-aria-components';
import { texts } from '../texts.ts';

/** A button. `look` is `primary` for the main button of a form, and `quiet` for a button in a table. */
export function Button({
  look = 'plain',
  ...props
}: ButtonProps & { look?: 'plain' | 'primary' | 'quiet' | 'danger' }) {
  return <AriaButton {...props} className={`button ${look}`} />;
}

/** A form field with its label and its error. */
export function Field(props: {
  label: string;
  value: string;
  onChange(value: string): void;
  error?: string | undefined;
  type?: string;
  name?: string;
  required?: boolean;
  autoFocus?: boolean;
}) {
  const { label, value, onChange, error, type = 'text', name, required = false, autoFocus = false } = props;
  return (
    <TextField
      className="field"
      value={value}
      onChange={onChange}
      isInvalid={Boolean(error)}
      isRequired={required}
      validationBehavior="aria"
      type={type}
      {...(name && { name })}
      autoFocus={autoFocus}
    >
      <Label>{label}</Label>
      <Input autoComplete="off" spellCheck={false} />
      <FieldError>{error}</FieldError>
    </TextField>
  );
}

/** A form field in which the user chooses one of a few values. */
export function Choice<Value extends string>(props: {
  label: string;
  value: Value | undefined;
  options: readonly (readonly [value: NoInfer<Value>, text: ReactNode])[];
  onChange: (value: NoInfer<Value>) => void;
  isDisabled?: boolean;
}) {
  const { label, value, options, onChange, isDisabled = false } = props;
  return (
    <Select
      className="field choice"
      value={value ?? null}
      isDisabled={isDisabled}
      onChange={(chosen) => onChange(chosen as Value)}
      placeholder={texts.state.choose}
    >
      <Label>{label}</Label>
      <AriaButton className="choice-button">
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </AriaButton>
      <Popover className="popover">
        <ListBox className="options">
          {options.map(([option, text]) => (
            <ListBoxItem key={option} id={option} textValue={typeof text === 'string' ? text : option}>
              {text}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </Select>
  );
}

/** A coloured label that shows a short text, such as the state of a parking session. */
export function Badge({ tone, children }: { tone: 'good' | 'bad' | 'warn' | 'quiet'; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}
