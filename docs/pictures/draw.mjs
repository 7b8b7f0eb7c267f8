// This script draws the pictures in the documentation. `npm run pictures` writes the picture files. `npm run
// pictures -- --check` fails when a picture file differs from the output of this script. Each picture uses light or
// dark colours, depending on the colour scheme of the operating system of the person who views it.
import { readFile, writeFile } from 'node:fs/promises';

const style = `<style>
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .axis { stroke: #8c959f } .inside { stroke: #0969da; stroke-width: 6 } .over { stroke: #8c959f; stroke-width: 6; stroke-dasharray: 4 3 }
  .entry { fill: #1a7f37 } .exit { fill: #cf222e } .count { fill: #8250df } .point { fill: #0969da } .window { fill: #0969da22; stroke: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .inside { stroke: #58a6ff } .entry { fill: #3fb950 } .exit { fill: #f85149 } .count { fill: #bc8cff }
    .point { fill: #58a6ff } .window { fill: #58a6ff33; stroke: #58a6ff }
  }
</style>`;

const svg = (width, height, title, body) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">
<title>${title}</title>
${style}
${body.join('\n')}
</svg>
`;

/**
 * The SVG paths of the symbols on a timeline. A triangle that points up is the entry of a vehicle, a triangle that
 * points down is an exit, and a square is a count of the vehicles inside.
 */
const mark = {
  entry: (x) => `<path class="entry" d="M${x - 6} 30 L${x} 18 L${x + 6} 30 Z"/>`,
  exit: (x) => `<path class="exit" d="M${x - 6} 18 L${x} 30 L${x + 6} 18 Z"/>`,
  count: (x) => `<rect class="count" x="${x - 5}" y="19" width="10" height="10"/>`,
};

/**
 * Draws the timeline of one vehicle, with a mark for each of its entries, exits and occupancy counts. In the picture, a
 * solid bar shows a known stay, and a dashed bar shows an assumed stay.
 */
const timeline = (title, { marks = [], bars = [], labels = [] }) =>
  svg(260, 52, title, [
    '<line class="axis" x1="8" y1="24" x2="252" y2="24"/>',
    ...bars.map(
      ({ from, to, kind = 'inside' }) => `<line class="${kind}" x1="${from}" y1="24" x2="${to}" y2="24"/>`,
    ),
    ...marks.map(([kind, x]) => mark[kind](x)),
    ...labels.map(([text, x]) => `<text x="${x}" y="46" text-anchor="middle">${text}</text>`),
  ]);

const timelines = {
  completed: timeline('An entry and an exit: one completed session', {
    marks: [
      ['entry', 40],
      ['exit', 200],
    ],
    bars: [{ from: 40, to: 200 }],
  }),
  open: timeline('An entry: the session is open until now', {
    marks: [['entry', 40]],
    bars: [{ from: 40, to: 252 }],
  }),
  'missed-exit': timeline('Two entries: the exit between them was missed, and the second session is open', {
    marks: [
      ['entry', 40],
      ['entry', 150],
    ],
    bars: [
      { from: 40, to: 150, kind: 'over' },
      { from: 150, to: 252 },
    ],
  }),
  'missed-entry': timeline('An exit without an entry', {
    marks: [['exit', 150]],
    bars: [{ from: 110, to: 150, kind: 'over' }],
  }),
  'late-exit': timeline(
    'Two entries, and an exit between them that arrives late: the first session is completed',
    {
      marks: [
        ['entry', 40],
        ['exit', 110],
        ['entry', 150],
      ],
      bars: [
        { from: 40, to: 110 },
        { from: 150, to: 252 },
      ],
      labels: [['arrives last', 110]],
    },
  ),
  'one-time': timeline('An entry and an exit at the same instant: the entry counts as the earlier one', {
    marks: [
      ['entry', 126],
      ['exit', 134],
    ],
  }),
  misread: timeline('The exit of 8 ends the only open session of B: the camera misread the plate', {
    marks: [
      ['entry', 40],
      ['exit', 200],
    ],
    bars: [{ from: 40, to: 200 }],
    labels: [
      ['DXB/B/7', 40],
      ['DXB/8/7', 200],
    ],
  }),
  text: timeline('The entry was a text, the exit a listed plate: the same vehicle', {
    marks: [
      ['entry', 40],
      ['exit', 200],
    ],
    bars: [{ from: 40, to: 200 }],
    labels: [
      ['“A 7”', 40],
      ['DXB/A/7', 200],
    ],
  }),
  'unseen-exit': timeline('The longest stay ended: the vehicle no longer counts', {
    marks: [['entry', 40]],
    bars: [{ from: 40, to: 180 }],
    labels: [['longest stay', 180]],
  }),
  'exit-after-longest-stay': timeline('An exit after the longest stay completes the session', {
    marks: [
      ['entry', 40],
      ['exit', 220],
    ],
    bars: [
      { from: 40, to: 150 },
      { from: 150, to: 220, kind: 'over' },
    ],
    labels: [['longest stay', 150]],
  }),
  corrected: timeline('A count that does not list the vehicle ends its session', {
    marks: [
      ['entry', 40],
      ['count', 180],
    ],
    bars: [{ from: 40, to: 180 }],
  }),
  counted: timeline('A count lists a vehicle whose entry was not recorded: it is inside from the count on', {
    marks: [['count', 90]],
    bars: [{ from: 90, to: 252 }],
  }),
};

/**
 * Draws the two rate limit windows (one hour, and the burst window of one minute) on a time axis. In the picture, each
 * dot is a rate limit point, at the minute in which an API key used it.
 */
function rateLimit() {
  const charged = [4, 9, 15, 16, 22, 27, 33, 38, 44, 50, 55, 57, 58, 58.5, 59, 59.4];
  const x = (minute) => 40 + minute * 9;
  return svg(620, 120, 'Two rolling windows end now: the last hour and the last minute', [
    `<rect class="window" x="${x(0)}" y="20" width="${x(60) - x(0)}" height="44"/>`,
    `<rect class="window" x="${x(59)}" y="14" width="${x(60) - x(59)}" height="56"/>`,
    `<line class="axis" x1="20" y1="64" x2="610" y2="64"/>`,
    ...charged.map((minute) => `<circle class="point" cx="${x(minute)}" cy="50" r="3"/>`),
    `<text x="${x(2)}" y="38">"hour": at most 1,000 points in the last 3,600 s</text>`,
    `<text x="${x(60) + 4}" y="82" text-anchor="end">"burst": at most 100 points in the last 60 s</text>`,
    `<text x="${x(60)}" y="10" text-anchor="middle">now</text>`,
    `<text x="${x(4)}" y="104">the oldest point leaves first: X-RateLimit-Reset is that instant</text>`,
  ]);
}

const pictures = {
  ...Object.fromEntries(Object.entries(timelines).map(([name, text]) => [`session-${name}.svg`, text])),
  'rate-limit-windows.svg': rateLimit(),
};

for (const [name, text] of Object.entries(pictures)) {
  const file = new URL(name, import.meta.url);
  if (!process.argv.includes('--check')) {
    await writeFile(file, text);
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error(`docs/pictures/${name} is stale: run \`npm run pictures\` and commit it.`);
    process.exitCode = 1;
  }
}
