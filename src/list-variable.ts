import { z } from 'zod';

/**
 * Creates the validation rule for an environment variable that contains a list. When an item of a list with several
 * items is invalid, the error message ends with the position of the item. The error message never contains the item
 * itself, because an item can contain a password.
 *
 * @param item the validation rule for one item of the list; its error messages start with a verb, such as `must be a
 *   URL`
 * @param separator the text between two items
 */
export const listVariable = <Item>(item: z.ZodType<Item, string>, separator: string | RegExp = ',') =>
  z.string().transform((list, context) => {
    const texts = list.split(separator);
    return texts.flatMap((text, index) => {
      const { success, data, error } = item.safeParse(text.trim());
      if (success) return [data];
      const position = texts.length > 1 ? ` (item ${index + 1} of ${texts.length})` : '';
      for (const { message } of error.issues) {
        context.addIssue({ code: 'custom', message: `${message}${position}` });
      }
      return [];
    });
  });
