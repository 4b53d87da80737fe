/* Parts of the forms about people: fields, a button that asks once more, a secret that is shown once. */

import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { ProblemError } from '../../api/client';
import { say } from '../../lib/i18n';
import { announce, copy } from '../parts';

interface FieldProps {
  label: string;
  value: string;
  set: (text: string) => void;
  type?: 'text' | 'password' | 'number';
  autocomplete?: string;
  optional?: boolean;
  note?: string;
}

export function Field({
  label,
  value,
  set,
  type = 'text',
  autocomplete = 'off',
  optional,
  note,
}: FieldProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type={type as 'text'}
        step={type === 'number' ? 'any' : undefined}
        value={value}
        autocomplete={autocomplete as 'off'}
        required={!optional}
        autocapitalize="off"
        spellcheck={false}
        aria-describedby={note ? `${id}-note` : undefined}
        onInput={(event) => set(event.currentTarget.value)}
      />
      {note ? (
        <span class="dim small" id={`${id}-note`}>
          {note}
        </span>
      ) : null}
    </div>
  );
}

export function Choice<T extends string>(props: {
  label: string;
  value: T;
  set: (value: T) => void;
  options: readonly [T, string][];
  bare?: boolean;
}): JSX.Element {
  const id = useId();
  const select = (
    <select
      id={id}
      value={props.value}
      aria-label={props.bare ? props.label : undefined}
      onChange={(event) => props.set(event.currentTarget.value as T)}
    >
      {props.options.map(([value, text]) => (
        <option key={value} value={value} selected={value === props.value}>
          {text}
        </option>
      ))}
    </select>
  );
  if (props.bare) return select;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {select}
    </div>
  );
}

export interface Attempt {
  busy: boolean;
  fault: string;
  attempt: (what: () => Promise<void>) => Promise<void>;
}

/* Do something that may fail, and keep why it did. */
export function useAttempt(): Attempt {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState('');
  const attempt = async (what: () => Promise<void>) => {
    setBusy(true);
    setFault('');
    try {
      await what();
    } catch (error) {
      const text = error instanceof ProblemError ? error.detail || error.title : say('The server could not be reached');
      setFault(text);
      announce(text);
    }
    setBusy(false);
  };
  return { busy, fault, attempt };
}

export function Form(props: {
  run: Attempt;
  submit: string;
  done: () => Promise<void>;
  children: ComponentChildren;
}): JSX.Element {
  const { run } = props;
  return (
    <form
      class="rules-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!run.busy) void run.attempt(props.done);
      }}
    >
      <div class="fields">{props.children}</div>
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={run.busy}>
          {props.submit}
        </button>
      </div>
      <p role="alert" class="bad-text">
        {run.fault}
      </p>
    </form>
  );
}

/* The first press asks, the second does it; leaving the button takes the question back. */
export function Sure({ text, what, run }: { text: string; what: string; run: () => void }): JSX.Element {
  const [asks, setAsks] = useState(false);
  return (
    <button
      type="button"
      class={asks ? 'quiet bad-text' : 'quiet'}
      aria-label={asks ? `${say('Really?')} ${text} ${what}` : `${text} ${what}`}
      onBlur={() => setAsks(false)}
      onClick={() => {
        setAsks(!asks);
        if (asks) run();
      }}
    >
      {asks ? say('Really?') : text}
    </button>
  );
}

/* A secret that the server tells once. */
export function Secret({ text, label, note }: { text: string; label: string; note?: string }): JSX.Element {
  return (
    <div class="notice" role="status">
      <div>
        <strong>{label}</strong>
        <p>
          <code class="secret">{text}</code>
        </p>
        <p class="dim small">{note ?? say('It is shown once. The server keeps its hash only.')}</p>
      </div>
      <button type="button" onClick={() => void copy(text, say('Copied'))}>
        {say('Copy')}
      </button>
    </div>
  );
}
