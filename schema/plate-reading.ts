import { z } from 'zod';
import { maxAlternatives, maxPlateTextLength, plateText } from '../src/whitelist/plate-reading.ts';
import { builder } from './builder.ts';
import { text } from './rules.ts';
import { plateRule } from './whitelist.ts';

const readText = text(maxPlateTextLength);

/** What a camera reads: something is left when spaces, dashes and dots are taken out, and not more than was sent. */
export const plateReadingRule = z.object({
  text: readText.refine((value) => {
    const { length } = plateText(value);
    return length > 0 && length <= maxPlateTextLength;
  }, `Must have 1 to ${maxPlateTextLength} characters other than spaces, dashes and dots`),
  plateType: plateRule.shape.plateType.nullish(),
  confidence: z.number().min(0, 'Must be 0 or more').max(1, 'Must be 1 or less').nullish(),
  alternatives: z
    .array(readText)
    .max(maxAlternatives, `At most ${maxAlternatives} alternatives are allowed`)
    .nullish(),
});

export const ReadingInput = builder.inputType('ReadingInput', {
  description:
    'What a camera read, in place of the parts of a plate. Compared without spaces, dashes and dots, in capital letters, with Arabic-Indic digits as ASCII ones (NFKC): an entry fits when it has this text as its code and number, or as its type, code and number.',
  fields: (t) => ({
    text: t.string({
      required: true,
      description: `The text as the camera sent it, such as \`A 12345\`: at most ${maxPlateTextLength} characters.`,
    }),
    plateType: t.string({ description: 'Only entries of this type, when the camera or its site knows it.' }),
    confidence: t.float({ description: 'How sure the camera is, from 0 to 1.' }),
    alternatives: t.stringList({
      description: `What else the camera takes the plate for, at most ${maxAlternatives}; asked when no entry has the text.`,
    }),
  }),
});

/** The fault of a request that names the plate in both forms or in none. */
export const onePlateMessage = 'Exactly one of plate and reading is required';

/** Whether a request names the plate in exactly one form. */
export const hasOnePlate = ({ plate, reading }: { plate?: unknown; reading?: unknown }) =>
  Boolean(plate) !== Boolean(reading);
