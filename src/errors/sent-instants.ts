/**
 * Maps each instant (a `Date`) to the text that a client sent for the instant. An error response repeats an instant
 * exactly as the client sent it (docs/contract.md#error-body). A `Date` alone does not show how the client wrote the
 * instant.
 */
const texts = new WeakMap<Date, string>();

/** Stores the text from which the scalar `DateTime` has created an instant. */
export function keepSentText(instant: Date, text: string): void {
  texts.set(instant, text);
}

/**
 * Returns the text from which the given `Date` was parsed, or `undefined` if the `Date` does not come from a client.
 */
export const sentText = (instant: Date): string | undefined => texts.get(instant);
