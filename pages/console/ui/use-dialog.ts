import { useState } from 'react';

/**
 * Returns the dialog that a view shows, and functions that open and close the dialog. The hook returns a new function
 * `close` for each dialog, and this function closes only its own dialog. For example, if the user has closed a dialog
 * and has opened a second dialog, a late response for the first dialog does not close the second dialog.
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
