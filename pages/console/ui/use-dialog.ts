import { useState } from 'react';

/**
 * Returns the dialog that a view shows, and functions that open and close the dialog. For each dialog, the hook returns
 * a new function `close`, which closes only this dialog. For example, the user closes a first dialog and opens a second
 * one. If the response for the first dialog arrives only when the second dialog is open, the response does not close
 * the second dialog.
 *
 * @template Dialog an object that describes the dialog; the view creates a new object for each dialog that it opens
 */
export function useDialog<Dialog extends object>(): {
  dialog: Dialog | undefined;
  open(dialog: Dialog): void;
  close(): void;
} {
  const [dialog, open] = useState<Dialog>();
  const close = () => open((current) => (current === dialog ? undefined : current));
  return { dialog, open, close };
}
