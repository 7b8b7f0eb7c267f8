/** The state that the plain form hands over to GraphiQL when GraphiQL has loaded. */
interface EarlyWork {
  /** The operation; undefined when the user has not changed it. */
  query: string | undefined;
  /** The answer, if the operation was run. */
  answer: string;
  /** Where the user was typing; undefined when the focus was elsewhere. */
  cursor: number | undefined;
}

/** The parts of the plain form, which the page shows until GraphiQL has loaded. */
export function firstOperationForm() {
  const form = document.getElementById('first-operation') as HTMLFormElement;
  const operation = form.querySelector('textarea')!;
  const answer = form.querySelector('pre')!;
  const note = form.querySelector('p')!;
  return { form, operation, answer, note };
}

/** The event of the form when an answer has arrived. */
export const answered = 'answered';

/** Takes over what the user has done in the form; waits for an answer that is on its way. */
export async function takeOverForm(): Promise<EarlyWork> {
  const { form, operation, answer } = firstOperationForm();
  while (form.ariaBusy === 'true') {
    await new Promise((resolve) => form.addEventListener(answered, resolve, { once: true }));
  }
  return {
    query: operation.value === operation.defaultValue ? undefined : operation.value,
    answer: answer.textContent,
    cursor: document.activeElement === operation ? operation.selectionEnd : undefined,
  };
}
