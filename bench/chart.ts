import { verdictOf } from './pairs.ts';
import type { Measured, RecordedCase } from './recorded.ts';

const row = 26;
const left = 560;
const right = 70;
const width = 1080;
/**
 * The largest ratio that a bar of the chart can show; each ratio compares two speeds. If a ratio is above
 * `largestRatio`, its bar ends at the right edge of the chart.
 */
const largestRatio = 4;
const colors = { met: '#2f7d4f', missed: '#b3372f', undecided: '#b7791f' };
const colorWithoutGoal = '#6b7280';

/**
 * Draws a chart with one bar for each ratio of two speeds. For example, the chart divides the requests per second of
 * the gateway by the requests per second of a service that the benchmark uses for comparison. A vertical line marks the
 * ratio 1, at which both speeds are equal.
 */
export function drawChart(cases: Record<string, Measured & RecordedCase>): string {
  const ratios = Object.values(cases).flatMap(({ title, figures }) =>
    // The chart omits each figure that has an upper limit as its goal (`most`), because such a figure is a cost and not
    // a speed.
    figures.filter(({ most }) => most === undefined).map((figure) => ({ title, figure })),
  );
  const scale = (width - left - right) / largestRatio;
  const bottom = 50 + ratios.length * row;
  const equal = left + scale;
  const bars = ratios.map(({ title, figure }, index) => {
    const y = 50 + index * row;
    const length = Math.min(figure.value, largestRatio) * scale;
    const verdict = verdictOf(figure);
    return (
      `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${escape(`${title}: ${figure.text}`)}</text>` +
      `<rect x="${left}" y="${y + 3}" width="${length.toFixed(1)}" height="15" fill="${verdict ? colors[verdict] : colorWithoutGoal}"/>` +
      `<text x="${(left + length + 6).toFixed(1)}" y="${y + 14}">${figure.value}</text>`
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${bottom + 40}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="22" font-size="15">Speed, gateway to peer (1 = equal)</text>
${bars.join('\n')}
<line x1="${equal}" y1="40" x2="${equal}" y2="${bottom}" stroke="#555" stroke-dasharray="3 3"/>
<text x="12" y="${bottom + 24}" fill="#555" font-size="11">Green: the goal is met. Red: missed. Yellow: undecided. Grey: no goal.</text>
</svg>
`;
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
