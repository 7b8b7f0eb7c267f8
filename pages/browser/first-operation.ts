/**
 * The content of the simple form that the page shows until GraphiQL has loaded. GraphiQL then takes over this content.
 */
interface EarlyWork {
  /** The operation that the user wrote; undefined when the user has not changed the operation. */
  query: string | undefined;
  /** The response, if the user has run the operation. */
  answer: string;
  /** The position of the cursor in the operation; undefined when the cursor was elsewhere. */
  cursor: number | undefined;
}

/** Returns the elements of the simple form that the page shows until GraphiQL has loaded. */
export function firstOperationForm() {
  const form = document.getElementById('first-operation') as HTMLFormElement;
  const operation = form.querySelector('textarea')!;
  const answer = form.querySelector('pre')!;
  const note = form.querySelector('p')!;
  return { form, operation, answer, note };
}

/** The name of the event that the form sends when a response has arrived. */
export const answered = 'answered';

/**
 * Returns the content of the form that the page shows until GraphiQL has loaded. If an operation is running, the
 * function first waits for its response.
 */
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
