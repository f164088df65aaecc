import {
  createContext,
  useContext,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  type ChangeEvent,
  type InputHTMLAttributes,
  type ReactNode,
} from "react";
import { explainRefusal, type Refusal } from "../errors";
import { t } from "../words";

/** The refusals of the form around a field. */
const Refusals = createContext<readonly Refusal[]>([]);

interface FormProps {
  /** The text of the button. */
  submit: string;
  /** Sends the form. The button does nothing until it is done, and keeps the focus. */
  action: (form: FormData) => Promise<void>;
  /** `userErrors`: those with a field stand beside it, the others above the button. */
  refusals?: readonly Refusal[];
  /** Gives a refusal the field of this form that it is about, or none. */
  ofField?: (refusal: Refusal) => Refusal;
  /** Why the request failed, if it did. */
  fault?: string | null;
  label?: string;
  /** If it is given, there is a button to cancel. */
  onCancel?: (() => void) | undefined;
  children: ReactNode;
}

/** A form that keeps what was typed when it is refused, and then moves the focus to the first field that is wrong. */
export function Form(props: FormProps) {
  const { submit, action, refusals: given = [], ofField = asItIs, fault = null, label, onCancel, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const [isSending, setSending] = useState(false);
  const refusals = useMemo(() => given.map(ofField), [given]);
  useEffect(() => {
    if (refusals.length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [refusals]);

  async function send() {
    if (!form.current || isSending) return;
    const tooLong = form.current.querySelector<HTMLElement>("[data-too-long]");
    if (tooLong) return tooLong.focus();
    setSending(true);
    try {
      await action(new FormData(form.current));
    } finally {
      setSending(false);
    }
  }

  // `field` is a path such as ["input", "title"]: a shorter one names no field of the form
  const general = refusals.filter(({ field }) => !field || field.length < 2);
  return (
    <Refusals value={refusals}>
      <form
        ref={form}
        aria-label={label}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {children}
        <div role="alert">
          {general.map((refusal) => (
            <p key={refusal.message} className="refusal">
              {explainRefusal(refusal)}
            </p>
          ))}
          {fault !== null && <p className="refusal">{fault}</p>}
        </div>
        <div className="buttons">
          <button className="primary" aria-disabled={isSending}>
            {submit}
          </button>
          {onCancel && (
            <button type="button" onClick={onCancel}>
              {t("cancel")}
            </button>
          )}
        </div>
      </form>
    </Refusals>
  );
}

const asItIs = (refusal: Refusal): Refusal => refusal;

/** Why the value of a field was refused, until it is changed. */
function useReasons(name: string, value: string): string[] {
  const refusals = useContext(Refusals);
  const refused = useMemo(() => value, [refusals]); // the value when the refusals came
  return value === refused ? refusals.filter(({ field }) => field?.[1] === name).map(explainRefusal) : [];
}

interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement | HTMLTextAreaElement>, "name" | "id"> {
  /** The name of the field in the mutation's input: `title` for refusals of `["input", "title"]`. */
  name: string;
  label: string;
  hint?: string;
  /** A text area with so many lines instead of an input. */
  rows?: number;
  /** The maximum length that the server accepts. A longer text is not cut: a message says so, and the form is not sent. */
  most?: number;
}

const NEAR = 0.8; // of the maximum: longer texts show how long they are

/** A labelled input with its hint and the reasons why its value was refused. */
export function Field({ name, label, hint, rows, most = Infinity, onChange, ...input }: FieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(input.defaultValue ?? "");
  const value = String(input.value ?? typed);
  const length = [...(rows ? value : value.trim())].length; // in code points, as the server counts
  const isTooLong = length > most;
  const refused = useReasons(name, value);
  const reasons = isTooLong ? [t("most-characters", { most })] : refused;
  const isCounted = length > NEAR * most;
  const parts = [hint && "hint", isCounted && "count", reasons.length > 0 && "refusal"].filter(Boolean);
  const attributes = {
    ...input,
    id,
    name,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      setTyped(event.target.value);
      onChange?.(event);
    },
    dir: "auto",
    "aria-invalid": reasons.length > 0,
    "aria-describedby": parts.map((part) => `${id}-${part}`).join(" ") || undefined,
    "data-too-long": isTooLong || undefined,
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {rows ? <textarea rows={rows} {...attributes} /> : <input {...attributes} />}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {isCounted && (
        <p className="hint" id={`${id}-count`}>
          {t("characters-of", { count: length, most })}
        </p>
      )}
      <p className="refusal" id={`${id}-refusal`} aria-live="polite">
        {reasons.join(" ")}
      </p>
    </div>
  );
}

interface ChoiceProps {
  /** As in `FieldProps`. */
  name: string;
  label: string;
  options: readonly { value: string; text: string }[];
  /** The one that is chosen at first. */
  defaultValue?: string;
}

/** A labelled choice of one of some values, the first by default. */
export function Choice({ name, label, options, defaultValue }: ChoiceProps) {
  const id = useId();
  const [chosen, choose] = useState(defaultValue ?? "");
  const reasons = useReasons(name, chosen);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        name={name}
        defaultValue={defaultValue}
        onChange={({ target }) => choose(target.value)}
        aria-invalid={reasons.length > 0}
        aria-describedby={reasons.length > 0 ? `${id}-refusal` : undefined}
      >
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <p className="refusal" id={`${id}-refusal`} aria-live="polite">
        {reasons.join(" ")}
      </p>
    </div>
  );
}
