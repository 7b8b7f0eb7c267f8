import { useState } from 'react';

/**
 * Returns the dialog that a view shows, and functions that open and close the dialog. The function `close` closes only
 * the dialog of the render that returned the function. If the user has closed this dialog and has opened another
 * dialog, a late response to the first dialog therefore does not close the other dialog.
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
