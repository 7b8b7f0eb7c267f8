/** @jsxImportSource react */
import 'uplot/dist/uPlot.min.css';
import './console.css';
import { createRoot } from 'react-dom/client';
import { Console } from './app.tsx';

// React Aria adds a style element with this id unless such an element exists. The content security policy of the pages
// would reject that element, so console.css contains its rule.
const mark = document.createElement('meta');
mark.id = 'react-aria-pressable-style';
document.head.append(mark);

createRoot(document.getElementById('console')!).render(<Console />);
