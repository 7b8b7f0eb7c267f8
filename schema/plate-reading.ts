import { z } from 'zod';
import { maxAlternatives, maxPlateTextLength, plateText } from '../src/whitelist/plate-reading.ts';
import { builder } from './builder.ts';
import { text } from './rules.ts';
import { plateRule } from './whitelist.ts';

const readText = text(maxPlateTextLength);

/**
 * Validates a camera reading. After `plateText` has removed spaces, dashes and dots, the text must have 1 to
 * `maxPlateTextLength` characters.
 */
export const plateReadingRule = z.object({
  text: readText
    .refine((value) => {
      const { length } = plateText(value);
      return length > 0 && length <= maxPlateTextLength;
    }, `Must have 1 to ${maxPlateTextLength} characters other than spaces, dashes and dots`)
    .meta({ minLength: 1, allOf: [{ pattern: '[^\\s.-]' }] }),
  plateType: plateRule.shape.plateType.nullish(),
  confidence: z.number().min(0, 'Must be 0 or more').max(1, 'Must be 1 or less').nullish(),
  alternatives: z
    .array(readText)
    .max(maxAlternatives, `At most ${maxAlternatives} alternatives are allowed`)
    .nullish(),
});

export const ReadingInput = builder.inputType('ReadingInput', {
  description:
    'The text that a camera read from a licence plate. A client can send this camera text instead of the type, code and number of a plate. Before the gateway compares the camera text with the whitelist, it removes spaces, dashes and dots from the text. The gateway also converts the letters of the text to capital letters, and Arabic-Indic digits to ASCII digits (NFKC). A whitelist entry matches when the camera text consists of the plate code and the plate number of the entry. The camera text may also contain the plate type before the plate code.',
  fields: (t) => ({
    text: t.string({
      required: true,
      description: `The text as the camera sent it, such as \`A 12345\`: at most ${maxPlateTextLength} characters.`,
    }),
    plateType: t.string({
      description:
        'The plate type, if the camera recognised it. If a client sends the plate type, the camera text matches only whitelist entries with this plate type.',
    }),
    confidence: t.float({
      description: 'How confident the camera is that it read the plate correctly, from 0 to 1.',
    }),
    alternatives: t.stringList({
      description: `At most ${maxAlternatives} other texts that, according to the camera, may be on the plate. The gateway uses these alternatives only when no whitelist entry matches \`text\`.`,
    }),
  }),
});

/** The error message for a request that contains both `plate` and `reading`, or neither of them. */
export const onePlateMessage = 'Exactly one of plate and reading is required';

/**
 * Whether a request contains either `plate` (the parts of a plate) or `reading` (the text that a camera read), but not
 * both.
 */
export const hasOnePlate = ({ plate, reading }: { plate?: unknown; reading?: unknown }) =>
  Boolean(plate) !== Boolean(reading);
