"""`cortex_m_platform`: the constraint value, config setting and platform of one core."""

def cortex_m_platform(name):
    """Declares the platform `name`, the constraint `<name>_core` and the setting `is_<name>`."""
    native.constraint_value(
        name = name + "_core",
        constraint_setting = ":core",
    )
    native.config_setting(
        name = "is_" + name,
        constraint_values = [":" + name + "_core"],
    )
    native.platform(
        name = name,
        constraint_values = [
            ":" + name + "_core",
            "@platforms//cpu:arm",
            "@platforms//os:none",
        ],
    )
