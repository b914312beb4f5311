import { Component, type ComponentChildren } from 'preact'
import { Failure } from '../part/failure.tsx'
import { t } from './preference.ts'

/** A page that fails takes nothing else with it: what stands around it goes on, and it can be tried again. */
export class Fence extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override state = { error: null }

  static override getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const error = this.state.error as Error | null
    if (!error) return this.props.children
    return (
      <Failure
        error={{ code: t().habits.failed, message: String(error) }}
        retry={() => this.setState({ error: null })}
      />
    )
  }
}
