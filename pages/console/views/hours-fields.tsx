/** @jsxImportSource react */
import type { Weekday, WeeklyHoursInput } from '../generated/operations.ts';
import { texts } from '../texts.ts';
import { Button, Field } from '../ui/controls.tsx';

const { whitelist: words } = texts;

const weekdays = Object.keys(words.days) as Weekday[];
const workdays = weekdays.slice(0, 5);

/**
 * Adds a day of the week to a list, or removes the day if it is already in the list. The returned list contains the
 * days in the order of the week, from Monday to Sunday.
 */
const toggled = (days: readonly Weekday[], day: Weekday) =>
  weekdays.filter((each) => (each === day ? !days.includes(day) : days.includes(each)));

/**
 * The form fields for the weekly hours of a whitelist entry. If the whitelist entry has no weekly hours, the vehicle
 * may enter at any time.
 */
export function HoursFields(props: {
  hours: readonly WeeklyHoursInput[];
  error: string | undefined;
  onChange(hours: WeeklyHoursInput[]): void;
}) {
  const { hours, error, onChange } = props;
  const change = (index: number, part: Partial<WeeklyHoursInput>) =>
    onChange(hours.map((each, place) => (place === index ? { ...each, ...part } : each)));
  return (
    <>
      {hours.map(({ days, from, to }, index) => (
        <fieldset key={index}>
          <legend>{words.hours}</legend>
          {weekdays.map((day) => (
            <label key={day} className="check">
              <input
                type="checkbox"
                checked={days.includes(day)}
                onChange={() => change(index, { days: toggled(days, day) })}
              />
              {words.days[day]}
            </label>
          ))}
          <div className="row end">
            <Field
              label={words.hoursFrom}
              value={from}
              onChange={(value) => change(index, { from: value })}
              error={error}
            />
            <Field label={words.hoursTo} value={to} onChange={(value) => change(index, { to: value })} />
            <Button look="quiet" onPress={() => onChange(hours.filter((_, place) => place !== index))}>
              {words.removeHours}
            </Button>
          </div>
        </fieldset>
      ))}
      <div className="row">
        <Button onPress={() => onChange([...hours, { days: workdays, from: '07:00', to: '19:00' }])}>
          {words.addHours}
        </Button>
        {hours.length === 0 && <span className="quiet">{words.allHours}</span>}
      </div>
    </>
  );
}
